// The SDK's example of a server that wants OAuth, as a process, from login to the second day.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openForTest } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";
import { collect } from "../support/processes.ts";
import { inRepository } from "../support/repository.ts";
import { waitUntil } from "../support/wait-until.ts";
import { makeSignIn } from "./support.ts";

async function findFreePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

async function startExample(): Promise<string> {
  const [port, issuerPort] = [await findFreePort(), await findFreePort()];
  const folder = inRepository("node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server");
  const withRefresh = new URL("./example-with-refresh.mjs", import.meta.url).href;
  const child = spawn(
    process.execPath,
    ["--import", withRefresh, `${folder}/simpleStreamableHttp.js`, "--oauth-strict", "--oauth"],
    { env: { ...process.env, MCP_PORT: port, MCP_AUTH_PORT: issuerPort } },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const output = collect(child.stdout);
  await waitUntil(() => output().includes(`port ${port}`) && output().includes(`port ${issuerPort}`));
  return `http://localhost:${port}/mcp`;
}

test("the SDK's example of a protected server is used from login to the second day", async () => {
  const url = await startExample();
  const setting = await makeSignIn({}, { url });
  const { cwd, run, login, stored, change, stubEnv } = setting;
  expect(await login()).toMatchObject({ exitCode: 0 });
  const isRenewed = (before: { access_token: string }) =>
    before.access_token !== stored().tokens.access_token;
  const passTime = () => change({ receivedAt: Date.now() - 3_590_000 }).tokens;
  const greeting = "Hello, Ada!";

  const command = ["call", "docs/greet", "name=Ada"];
  expect(await run(command)).toMatchObject({ exitCode: 0, stdout: `${greeting}\n` });
  let before = passTime();
  expect(await run(command)).toMatchObject({ exitCode: 0, stdout: `${greeting}\n` });
  expect(isRenewed(before)).toBe(true);

  stubEnv();
  before = passTime();
  const session = await openForTest(cwd, { config: { mcpServers: { docs: { url } } } });
  expect(await session.callTool("docs/greet", { name: "Ada" })).toMatchObject({ variant: "Success" });
  expect(isRenewed(before)).toBe(true);
  before = passTime();
  expect(await session.callTool("docs/greet", { name: "Ada" })).toMatchObject({ variant: "Success" });
  expect(isRenewed(before)).toBe(true);

  const client = await connectLegacy((await serveForTest(null, { cwd })).url);
  before = passTime();
  const { content } = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
  expect(content).toEqual([{ type: "text", text: greeting }]);
  expect(isRenewed(before)).toBe(true);
});
