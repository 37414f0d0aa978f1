import { readFileSync } from "node:fs";
import { join } from "node:path";
import { approve } from "../../../src/approval/approve.ts";
import { makeProject, probeServer, toolPack } from "../../session/support/session.ts";
import type { Tree } from "../../support/tree.ts";

/** A tool of a server's list. */
export const listed = (name: string, fields: Readonly<Record<string, unknown>> = {}) => ({
  name,
  description: `The tool ${name}.`,
  inputSchema: { type: "object" },
  ...fields,
});

/** A config with one server, whose list is in its environment, so that it changes without its launch. */
export const configWith = (
  tools: readonly object[],
  { env = {}, more = {} }: { env?: Readonly<Record<string, string>>; more?: object } = {},
) => ({
  logDir: "logs",
  mcpServers: {
    remote: {
      command: process.execPath,
      args: [probeServer],
      env: { PROBE_TOOLS: JSON.stringify(tools), PROBE_PIDS: "pids", ...env },
    },
  },
  ...more,
});

export const module =
  "export const createIssue = () => 'created';\nexport const deleteIssue = createIssue;\n";

/** The files of a pack with two tools, a toolset and a server of its own. */
export const jira = (
  tools: Readonly<Record<string, Readonly<Record<string, unknown>>>> = { createIssue: {}, deleteIssue: {} },
  extra: Tree = {},
): Tree =>
  toolPack(tools, module, {
    "package.json": { trailblaze: { tools: Object.keys(tools), toolsets: ["all"] } },
    "trailblaze/toolsets/all.json": { name: "all", tools: ["createIssue"] },
    ...extra,
  });

/** Files that give a pack the server `warehouse`, which lists these tools. */
export const warehouse = (tools: readonly object[], definition: object = {}): Tree => ({
  "package.json": { trailblaze: { servers: ["warehouse"] } },
  "server.mjs": readFileSync(probeServer, "utf8"),
  "trailblaze/servers/warehouse.json": {
    script: "./server.mjs",
    env: { PROBE_TOOLS: JSON.stringify(tools) },
    ...definition,
  },
});

export const lockOf = (project: string) => join(project, "trailblaze.lock");

export const readLockText = (project: string) => readFileSync(lockOf(project), "utf8");

/** A project with `@acme/jira` and a server of the config. */
export const makeJiraProject = (
  packs: Readonly<Record<string, Tree>> = { "@acme/jira": jira() },
  config: object | undefined = undefined,
) => makeProject(packs, config === undefined ? {} : { "trailblaze.config.json": config });

/** Locks everything that is installed, also what is named. Starts every server. */
export async function lockEverything(cwd: string, ...names: string[]): Promise<void> {
  await approve(names, { cwd, all: true }, () => true);
}
