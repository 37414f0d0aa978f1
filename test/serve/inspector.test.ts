// The MCP inspector's command line, as users run it: `npx @modelcontextprotocol/inspector --cli …`. Its package
// @modelcontextprotocol/inspector-cli is that command without the web client.
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeTree } from "../support/packs.ts";
import { isRunning, readPids } from "../support/processes.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";
import { serveOverHttp } from "../support/serve-over-http.ts";
import { waitUntil } from "../support/wait-until.ts";

const require = createRequire(import.meta.url);
const inspector = require.resolve("@modelcontextprotocol/inspector-cli");
const server = "acme/jira/project-management";
const names = ["jira_createIssue", "jira_getIssue", "jira_searchIssues"];

/** A project with a sample pack installed. Gives a folder in it, as the inspector looks for `../package.json`. */
function makeProject(pack = "@acme/jira"): string {
  const root = makeTree({
    "package.json": { name: "app", version: "1.0.0", dependencies: { [pack]: "*" } },
    // `exec`, so that the id is the server's own.
    "src/start.sh": 'echo $$ >> pids.txt\nexec "$NODE" "$CLI" start "$@"\n',
  });
  cpSync(samplePack(pack).folder, join(root, "node_modules", pack), { recursive: true });
  return join(root, "src");
}

async function inspect(cwd: string, target: readonly string[], ...args: string[]) {
  const env = { ...process.env, NODE: process.execPath, CLI: inRepository("dist/cli/cli.cjs") };
  const command = [inspector, "--cli", ...target, ...args];
  return runProcess(process.execPath, command, { cwd, env, timeoutMs: 60_000 });
}

async function expectListAndCalls(cwd: string, target: readonly string[], ...options: readonly string[]) {
  const listed = await inspect(cwd, target, "--method", "tools/list", ...options);
  expect(listed).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name)).toEqual(names);

  const call = (...args: string[]) =>
    inspect(cwd, target, "--method", "tools/call", "--tool-name", ...args, ...options);
  const called = await call("jira_getIssue", "--tool-arg", "issueKey=DEMO-1");
  expect(called).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(called.stdout).structuredContent).toMatchObject({ key: "DEMO-1" });

  const missing = JSON.parse((await call("jira_getIssue")).stdout);
  expect(missing).toMatchObject({ isError: true });
  expect(missing.content[0].text).toContain("/issueKey");

  const prompt = ["prompts/get", "--prompt-name", "issueText", "--prompt-args", "topic=search"];
  const got = await inspect(cwd, target, "--method", ...prompt, ...options);
  expect(JSON.parse(got.stdout).messages[0].content.text).toContain("Write an issue about search.");
}

// Each test starts several inspectors; the limit is for hangs.
describe("the MCP inspector with a pack's tools", () => {
  test("the MCP inspector lists and calls tools over HTTP with a token, and not without it, with one server for all calls", async () => {
    const cwd = makeProject();
    const serving = await serveOverHttp(server, { cwd, args: ["--token", "open-sesame"] });
    onTestFinished(async () => void (await serving.stop()));
    const refused = await inspect(cwd, [serving.url], "--method", "tools/list");
    expect(refused.exitCode).not.toBe(0);
    await expectListAndCalls(cwd, [serving.url], "--header", "Authorization: Bearer open-sesame");
    expect(await serving.stop()).toBe(0);
    expect(isRunning(serving.pid)).toBe(false);
  });

  test("the MCP inspector lists a bundle over stdio, and no server keeps running", async () => {
    const target = ["sh", "start.sh", "weather-tools/McpStdio"];
    const cwd = makeProject("weather-tools");
    const listed = await inspect(cwd, target, "--method", "tools/list");
    const names = JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["weather_currentConditions", "weather_weekendForecast"]);
    const pids = readPids(join(cwd, "pids.txt"));
    expect(pids).toHaveLength(1);
    await waitUntil(() => !pids.some(isRunning));
  });
});
