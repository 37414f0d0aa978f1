import { expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";

/** Runs a module that has opened an endpoint, with a call in flight that never ends and an idle connection. */
function runHost(afterwards: string) {
  const script = `
    import { once } from "node:events";
    import { connect } from "node:net";
    import { openCallbackEndpoint } from ${JSON.stringify(inRepository("src/callback/callback-endpoint.ts"))};
    let dispatched = () => {};
    const isDispatched = new Promise((resolve) => { dispatched = resolve; });
    const endpoint = await openCallbackEndpoint({
      sessionId: "s",
      limits: { enabled: true, timeoutMs: 600000, maxDepth: 16, maxBodyBytes: 4096, bodyTimeoutMs: 600000 },
      dispatch: () => { dispatched(); return new Promise(() => {}); },
    });
    const token = endpoint.issueToken("api");
    endpoint.beginInvocation("i", "api", 0, new AbortController().signal);
    const idle = connect(endpoint.port, "127.0.0.1").on("error", () => {});
    const calling = connect(endpoint.port, "127.0.0.1").on("error", () => {});
    await Promise.all([once(idle, "connect"), once(calling, "connect")]);
    const body = JSON.stringify({ version: 1, session_id: "s", invocation_id: "i", action: { type: "call_tool", tool_name: "t", arguments_json: "{}" } });
    calling.write("POST /scripting/callback HTTP/1.1\\r\\nHost: localhost:" + endpoint.port + "\\r\\nAuthorization: Bearer " + token + "\\r\\nContent-Type: application/json\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n" + body);
    await isDispatched;
    ${afterwards}
  `;
  const node = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", script];
  return runProcess(process.execPath, node, { cwd: inRepository("."), env: process.env, timeoutMs: 30_000 });
}

test("an open endpoint does not keep its process running, whatever is connected", async () => {
  const host = await runHost("idle.unref(); calling.unref(); process.stdout.write('over');");
  expect(host).toEqual({ stdout: "over", stderr: "", exitCode: 0 });
});
