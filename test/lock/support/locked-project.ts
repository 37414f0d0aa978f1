import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LockedItem, LockFile } from "../../../src/lock/json.ts";
import { formatLock, lockFileOf } from "../../../src/lock/lock-file.ts";
import { lockEverything } from "../../approval/support/locked-project.ts";
import { makeProject, openForTest } from "../../session/support/session.ts";
import { sendJson, serveHttp } from "../../support/remote-servers.ts";

const listServerFile = new URL("list-server.mjs", import.meta.url);
export const listServer = readFileSync(listServerFile, "utf8");
const { answerTo } = await import(listServerFile.href);

export const query = {
  name: "query",
  description: "Runs a query.",
  inputSchema: { type: "object", properties: { sql: { type: "string" } } },
};
export const count = { name: "count", description: "Counts rows.", inputSchema: { type: "object" } };

export const status = { name: "status", description: "Says how it is.", inputSchema: { type: "object" } };

/** A pack with an item of every kind. */
export const jira = {
  "package.json": {
    version: "1.2.0",
    trailblaze: {
      tools: ["createIssue", "getIssue"],
      servers: ["warehouse", "desk"],
      toolsets: ["issues"],
      prompts: ["triage"],
    },
  },
  "tools.js":
    "export const createIssue = () => 'created';\nexport const getIssue = () => 'found';\nexport const connect = () => {};\n",
  "trailblaze/tools/createIssue.json": {
    name: "jira_createIssue",
    title: "Create",
    description: "Create a new issue.\nReturns its key.",
    parameters: { title: { type: "string", required: true } },
    outputSchema: { type: "object", properties: { key: { type: "string" } } },
    annotations: { readOnlyHint: false, destructiveHint: false },
    handler: "./tools.js#createIssue",
    initialize: "./tools.js#connect",
    options: { project: { default: "DEMO", description: "The project." } },
  },
  "trailblaze/tools/getIssue.json": {
    name: "jira_getIssue",
    description: "Get an issue.",
    inputSchema: { type: "object" },
    handler: "./tools.js#getIssue",
  },
  "trailblaze/servers/warehouse.json": {
    script: "./server.mjs",
    env: { MODE: "x" },
    envPassthrough: ["JIRA_TOKEN"],
  },
  "trailblaze/servers/desk.json": { tools: ["createIssue"], instructions: "Be kind." },
  "trailblaze/toolsets/issues.json": { name: "issues", tools: ["createIssue", "getIssue"] },
  "trailblaze/prompts/triage.json": {
    name: "triage",
    description: "Triage.",
    content: "Line one.\nLine two.",
  },
  "server.mjs": listServer,
  "list.json": { instructions: "Use SQL.", tools: [query, count] },
} as const;

/** The config of a server of the user. */
export const ownConfig = {
  mcpServers: { mine: { command: process.execPath, args: ["./mine/server.mjs"] } },
};

/** A project with the pack @acme/jira and a server of the config. */
export const makeJiraProject = () =>
  makeProject(
    { "@acme/jira": jira },
    {
      "trailblaze.config.json": ownConfig,
      "mine/server.mjs": listServer,
      "mine/list.json": { tools: [status] },
    },
  );

/** Makes the server of the config a remote one in this process; it says what its list is at the time. */
export async function makeRemote(project: string): Promise<string> {
  const lists = () => JSON.parse(readFileSync(join(project, "mine/list.json"), "utf8"));
  const { url } = await serveHttp(({ message }, _, response) => {
    const answer = message?.id === undefined ? undefined : answerTo(message, lists());
    return answer ? sendJson(response, 200, answer) : response.writeHead(message ? 202 : 405).end();
  });
  const mcpServers = { mine: { url, protocol: "legacy" } };
  writeFileSync(join(project, "trailblaze.config.json"), JSON.stringify({ mcpServers }));
  return project;
}

let approved: Promise<string> | undefined;

/** A project whose lock approves everything in it. The lock names no absolute path, so it is the same for all of them. */
export async function makeLocked(): Promise<string> {
  const project = makeJiraProject();
  approved ??= readApproved();
  writeFileSync(lockFileOf(project), await approved);
  return project;
}

async function readApproved(): Promise<string> {
  const project = makeJiraProject();
  await lockEverything(project);
  return readFileSync(lockFileOf(project), "utf8");
}

/** The files of the pack in a project. */
export const inPack = (path: string) => `node_modules/@acme/jira/${path}`;

/** Opens a session with the project's own config. */
export const openLocked = (project: string, options: Parameters<typeof openForTest>[1] = {}) =>
  openForTest(project, { config: "trailblaze.config.json", ...options });

/** Replaces a JSON file of a project. */
export function editJson(project: string, path: string, edit: (value: never) => unknown): void {
  const file = join(project, path);
  writeFileSync(file, JSON.stringify(edit(JSON.parse(readFileSync(file, "utf8")) as never)));
}

/** Sets keys of a JSON file of a project. */
export const mergeJson = (project: string, path: string, values: object): void =>
  editJson(project, path, (old: object) => ({ ...old, ...values }));

export const jiraOf = (lock: LockFile) => lock.packs["@acme/jira"] as Record<string, LockedItem>;

/** Changes the lock as another tool would: with fitting hashes. */
export async function editLock(project: string, edit: (lock: LockFile) => void): Promise<void> {
  const lock: LockFile = JSON.parse(readFileSync(lockFileOf(project), "utf8"));
  edit(lock);
  writeFileSync(lockFileOf(project), formatLock(lock));
}
