// The snippets of popular servers' READMEs, for clients, with what they become in the project's config.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../../src/config/read-config.ts";
import { createNodeInspectionPort } from "../../src/files/node-inspection-port.ts";
import { planImport } from "../../src/install/import-servers.ts";
import { makeTree } from "../support/packs.ts";

const npx = (args: readonly string[], env?: Record<string, string>) => ({
  command: "npx",
  args,
  ...(env && { env }),
});
const docker = (...args: string[]) => ({ command: "docker", args: ["run", "-i", "--rm", ...args] });
const uvx = (...args: string[]) => ({ command: "uvx", args });
const key = "s3cret";

/** The label, the entry of the README, and the changes of the imported entry: references to variables. */
const snippets: readonly [label: string, entry: object, changes?: object][] = [
  [
    "github",
    { ...docker("-e", "GITHUB_PAT", "ghcr.io/github/github-mcp-server"), env: { GITHUB_PAT: key } },
    { env: { GITHUB_PAT: "${GITHUB_PAT}" } },
  ],
  [
    "github with a value in an argument",
    docker("-e", `GITHUB_PERSONAL_ACCESS_TOKEN=${key}`, "ghcr.io/github/github-mcp-server"),
  ],
  [
    "notion",
    npx(["-y", "@notionhq/notion-mcp-server"], {
      OPENAPI_MCP_HEADERS: `{"Authorization": "Bearer ${key}", "Notion-Version": "2022-06-28" }`,
    }),
    {
      env: {
        OPENAPI_MCP_HEADERS: "${OPENAPI_MCP_HEADERS}",
      },
    },
  ],
  ["sentry", npx(["@sentry/mcp-server@latest", `--access-token=${key}`, "--host=sentry.example.com"])],
  [
    "puppeteer",
    npx(["-y", "@modelcontextprotocol/server-puppeteer"], {
      PUPPETEER_LAUNCH_OPTIONS: '{ "headless": false, "args": [] }',
      ALLOW_DANGEROUS: "true",
    }),
    { env: { PUPPETEER_LAUNCH_OPTIONS: "${PUPPETEER_LAUNCH_OPTIONS}", ALLOW_DANGEROUS: "true" } },
  ],
  ["sqlite", uvx("mcp-server-sqlite", "--db-path", "~/test.db")],
  ["context7", npx(["-y", "@upstash/context7-mcp", "--api-key", key])],
  ["linear", npx(["-y", "mcp-remote", "https://mcp.linear.app/mcp"])],
  [
    "cloudflare",
    npx(
      [
        "mcp-remote",
        "https://observability.mcp.cloudflare.com/mcp",
        "--header",
        "Authorization:${AUTH_HEADER}",
      ],
      {
        AUTH_HEADER: `Bearer ${key}`,
      },
    ),
    { env: { AUTH_HEADER: "${AUTH_HEADER}" } },
  ],
];

const open = () => makeTree({ "package.json": { name: "app" } });
const importText = async (cwd: string, text: string) => {
  const readInput = async () => Buffer.from(text);
  const plan = await planImport("-", { cwd, only: [], replace: false, readInput });
  await plan.edit.apply();
  const config = readFileSync(join(cwd, plan.edit.file), "utf8");
  return { ...plan, config, servers: parse(config).mcpServers };
};

describe("snippets in READMEs of servers", () => {
  test.each(snippets)(
    "the README snippet of %s is a valid config, and is imported with a warning for a secret in its arguments",
    async (label, entry, changes) => {
      const cwd = open();
      const config = { mcpServers: { [label]: entry } };
      const pasted = await readConfig(createNodeInspectionPort(), { directory: cwd, config });
      expect(pasted).toMatchObject({ subprocessServers: [{ name: label, ...entry }], problems: [] });
      const { added, notes, servers, edit } = await importText(cwd, JSON.stringify(config));
      expect(added).toEqual([label]);
      expect(servers).toEqual({ [label]: { ...entry, ...changes } });
      expect(edit.diff).not.toContain(key);
      const hasSecret = JSON.stringify(servers).includes(key);
      expect(notes).toEqual(hasSecret ? [expect.stringContaining(`"${label}": an argument looks like`)] : []);
    },
  );

  test("a README snippet for the settings of VS Code is imported with its inputs as variables", async () => {
    const args = ["--mount", "type=bind,src=${input:db-path},dst=/mcp", "mcp/sqlite"];
    const mcp = { inputs: [{ type: "promptString", id: "db-path" }], servers: { sqlite: docker(...args) } };
    expect(await importText(open(), JSON.stringify({ mcp }))).toMatchObject({
      added: ["sqlite"],
      skipped: [],
      variables: ["db_path"],
    });
  });

  test("a README snippet without the braces around its key is imported", async () => {
    const text = '"mcpServers": { "git": { "command": "uvx", "args": ["mcp-server-git"] } },\n';
    expect(await importText(open(), text)).toMatchObject({ added: ["git"] });
  });
});
