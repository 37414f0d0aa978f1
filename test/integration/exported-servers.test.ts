import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { runMain } from "../support/main.ts";
import { isolatedEnvironment } from "../support/package-managers.ts";
import { publishFolders } from "../support/publish.ts";
import { samplePack } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const folder = makeTemporaryFolder();
const pack = join(folder.path, "pack");
const formats = ["bin", "agent-plugin", "claude-plugin", "server.json"];
const registry = inject("registry");
const name = "@acme/exported";

const readJson = (file: string) => JSON.parse(readFileSync(join(pack, file), "utf8"));

/** Sets fields of the pack's package.json. */
function setFields(fields: object): void {
  writeFileSync(join(pack, "package.json"), JSON.stringify({ ...readJson("package.json"), ...fields }));
}

beforeAll(async () => {
  cpSync(samplePack("@acme/jira").folder, pack, { recursive: true });
  setFields({ name, mcpName: "io.github.acme/exported" });
  for (const format of formats) {
    const { stderr, exitCode } = await runMain(["export", format], { cwd: pack });
    expect({ format, stderr, exitCode }).toEqual({ format, stderr: "", exitCode: 0 });
  }
  await publishFolders(registry, [pack]);
});
afterAll(folder.remove);

/** Starts a command as a client would, somewhere else, and lists the tools of the server. */
async function listTools(command: string, args: readonly string[]): Promise<string[]> {
  const cwd = join(folder.path, "elsewhere");
  mkdirSync(cwd, { recursive: true });
  const home = join(folder.path, "home");
  const env = isolatedEnvironment({ cwd, registry, home }) as Record<string, string>;
  const client = new Client({ name: "tester", version: "1.0.0" });
  const transport = new StdioClientTransport({ command, args: [...args], cwd, env, stderr: "ignore" });
  await client.connect(transport, { timeout: 90_000 });
  try {
    const { tools } = await client.listTools();
    return tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

const expected = ["jira_createIssue", "jira_getIssue", "jira_searchIssues"];

test("the commands in both plugins start the server from npm's cache", async () => {
  const [given = [], other] = ["mcp.json", ".claude-plugin/plugin.json"].map((file) => {
    const { command, args } = readJson(file).mcpServers.jira as { command: string; args: string[] };
    const data = join(folder.path, "data");
    mkdirSync(data, { recursive: true });
    return [command, ...args.map((one) => one.replace(/\$\{(?:CLAUDE_)?PLUGIN_DATA\}/, data))];
  });
  expect(other).toEqual(given);
  const [command = "", ...args] = given;
  expect(await listTools(command, args)).toEqual(expected);
});

test("server.json names what npx starts", async () => {
  const [{ identifier, version, runtimeHint }] = readJson("server.json").packages;
  expect(await listTools(runtimeHint, ["-y", `${identifier}@${version}`])).toEqual(expected);
});
