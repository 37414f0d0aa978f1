import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Block, parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { invocationId, openEndpoint, sessionId } from "./open-endpoint.ts";

const page = readFileSync(inRepository("docs/callback.md"), "utf8");
const blocks = parseMarkdown(page).filter((part): part is Block => typeof part !== "string");
const textOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? "";

const isThere = await Promise.all(
  ["curl", "python3"].map((program) =>
    runProcess(program, ["--version"], { cwd: inRepository("."), env: process.env, timeoutMs: 10_000 }).then(
      ({ exitCode }) => exitCode === 0,
      () => false,
    ),
  ),
);

/** Runs a program as a server would be, with what the session puts into its environment. */
async function runAsServer(command: string, args: readonly string[], input = "") {
  const opened = await openEndpoint({
    dispatch: async (call) => ({ variant: "Success", message: `Hello, ${String(call.arguments.name)}!` }),
  });
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    TRAILBLAZE_BASE_URL: opened.endpoint.baseUrl,
    TRAILBLAZE_SESSION_TOKEN: opened.token,
    TRAILBLAZE_SESSION_ID: sessionId,
    TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: "122000",
    INVOCATION_ID: invocationId,
  };
  const result = await runProcess(command, args, { cwd: inRepository("."), env, timeoutMs: 30_000, input });
  return { opened, result };
}

describe("the page for authors of servers", () => {
  test.runIf(isThere[0])("the page starts with a request that works", async () => {
    const { opened, result } = await runAsServer("sh", ["-c", textOf("sh")]);
    expect(result).toEqual({ exitCode: 0, stderr: "", stdout: textOf("json") });
    expect(opened.calls).toMatchObject([{ toolName: "greeter_greet", arguments: { name: "Ada" } }]);
  });

  test.runIf(isThere[1])("the page's Python function works", async () => {
    const use = `print(call_tool(os.environ["INVOCATION_ID"], "t", {"name": "Grüße"})["text_content"].encode())`;
    const { result } = await runAsServer("python3", ["-"], `${textOf("python")}\n${use}\n`);
    expect(result.stderr).toBe("");
    expect(result.stdout.trim()).toBe(String.raw`b'Hello, Gr\xc3\xbc\xc3\x9fe!'`);
  });

  test("the page lists every status", () => {
    const rows = [...page.matchAll(/^\| (\d{3}) \|/gm)].map(([, status]) => Number(status));
    expect(rows).toEqual([431, 400, 417, 403, 404, 405, 401, 415, 413, 408, 400, 200]);
  });
});
