import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lockEverything } from "../approval/support/locked-project.ts";
import { makeProject } from "../session/support/session.ts";
import {
  count,
  editJson,
  inPack,
  jira,
  listServer,
  openLocked,
  ownConfig,
  query,
  status,
} from "./support/locked-project.ts";

type Values = Record<string, unknown>;
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const bundle = {
  kind: "Mcp.Tools",
  metadata: { name: "reports" },
  entries: [{ name: "report", description: "Report.", handler: "./tools.js#getIssue" }],
};
const helper = {
  "node_modules/helper/package.json": {
    name: "helper",
    version: "1.0.0",
    bin: { helper: "./a.js", other: "./a.js" },
  },
  "node_modules/helper/a.js": "",
};

/** A project with an item of every kind, and a lock that approves all of them. */
async function makeLocked(): Promise<string> {
  const manifest = jira["package.json"];
  const { trailblaze } = manifest;
  const project = makeProject(
    {
      "@acme/jira": {
        ...jira,
        "package.json": {
          ...manifest,
          dependencies: { helper: "*" },
          trailblaze: {
            ...trailblaze,
            toolsets: [...trailblaze.toolsets, "reports"],
            resources: ["page"],
          },
        },
        "trailblaze/toolsets/reports.json": bundle,
        "trailblaze/resources/page.json": {
          name: "page",
          description: "A page.",
          uriTemplate: "docs://{page}",
          text: "Line one.\nLine two.",
          complete: { page: ["start"] },
        },
      },
    },
    {
      "trailblaze.config.json": ownConfig,
      "mine/server.mjs": listServer,
      "mine/list.json": { instructions: "Ask.", tools: [status] },
      ...helper,
    },
  );
  mkdirSync(join(project, inPack("sub")));
  await lockEverything(project);
  return project;
}

type Change = (project: string) => void;
const edit =
  (path: string) =>
  (values: Values): Change =>
  (project) =>
    editJson(project, inPack(path), (old: Values) => ({ ...old, ...values }));
const editServer = edit("trailblaze/servers/warehouse.json");
const editDesk = edit("trailblaze/servers/desk.json");
const editPrompt = edit("trailblaze/prompts/triage.json");
const editPage = edit("trailblaze/resources/page.json");
const editList = edit("list.json");
const editQuery = (values: Values) => editList({ tools: [{ ...query, ...values }, count] });
const editOwn =
  (values: Values): Change =>
  (project) =>
    editJson(project, "trailblaze.config.json", () => ({
      mcpServers: { mine: { ...ownConfig.mcpServers.mine, ...values } },
    }));
const editOwnList =
  (values: Values): Change =>
  (project) =>
    editJson(project, "mine/list.json", (old: Values) => ({ ...old, ...values }));

const warehouse = "acme/jira/warehouse";
const listed = `${warehouse}/query`;
const desk = "acme/jira/desk";
const triage = "acme/jira/triage";
const page = "acme/jira/page";

/** What has changed, whose it is, and the keys that the problem names. */
const changes: [string, Change, string, string[]][] = [
  [
    "the command of a server",
    editServer({ script: undefined, command: "node" }),
    warehouse,
    ["command", "script"],
  ],
  [
    "the package of a server",
    editServer({ script: undefined, package: "helper" }),
    warehouse,
    ["package", "script"],
  ],
  [
    "the command of a server's package",
    editServer({ script: undefined, package: "helper", bin: "other" }),
    warehouse,
    ["bin", "package", "script"],
  ],
  ["the folder of a server", editServer({ cwd: "./sub" }), warehouse, ["cwd"]],
  ["the title of a listed tool", editQuery({ title: "Ask" }), listed, ["title"]],
  [
    "an added parameter of a listed tool",
    editQuery({
      inputSchema: {
        ...query.inputSchema,
        properties: { ...query.inputSchema.properties, bcc: { type: "string" } },
      },
    }),
    listed,
    ["inputSchema.properties.bcc"],
  ],
  [
    "the output schema of a listed tool",
    editQuery({ outputSchema: { type: "object" } }),
    listed,
    ["outputSchema"],
  ],
  [
    "the annotations of a listed tool",
    editQuery({ annotations: { readOnlyHint: true } }),
    listed,
    ["annotations"],
  ],
  [
    "to whom a listed tool is shown",
    editQuery({ _meta: { "trailblaze/requiresHost": true } }),
    listed,
    ["meta"],
  ],
  [
    "hidden characters in a listed tool",
    editQuery({ description: `${query.description}\u{e0041}\u200b` }),
    listed,
    ["description"],
  ],
  [
    "two listed tools with swapped names",
    editList({
      tools: [
        { ...query, name: "count" },
        { ...count, name: "query" },
      ],
    }),
    listed,
    ["description", "inputSchema.properties"],
  ],
  ["the instructions of a composed server", editDesk({ instructions: "Be rude." }), desk, ["instructions"]],
  ["the transport of a composed server", editDesk({ transport: "http" }), desk, ["transport"]],
  [
    "the code that initializes a composed server",
    editDesk({ initialize: "./tools.js#connect" }),
    desk,
    ["initialize"],
  ],
  ["the members of a composed server", editDesk({ tools: ["createIssue", "getIssue"] }), desk, ["members"]],
  [
    "the members of a toolset",
    edit("trailblaze/toolsets/issues.json")({ tools: ["getIssue", "acme/jira/warehouse"] }),
    "acme/jira/issues",
    ["members"],
  ],
  [
    "an entry of a bundle",
    edit("trailblaze/toolsets/reports.json")({ entries: [{ ...bundle.entries[0], description: "Poison." }] }),
    "acme/jira/reports",
    ["entries"],
  ],
  ["the title of a prompt", editPrompt({ title: "Sort" }), triage, ["title"]],
  ["the description of a prompt", editPrompt({ description: "Sort." }), triage, ["description"]],
  ["the arguments of a prompt", editPrompt({ arguments: [{ name: "team" }] }), triage, ["arguments"]],
  ["the content of a prompt", editPrompt({ content: "Line one.\nPoison." }), triage, ["content"]],
  [
    "the code of a prompt",
    editPrompt({ content: undefined, handler: "./tools.js#getIssue" }),
    triage,
    ["content", "runs"],
  ],
  [
    "the suggestions of a prompt",
    editPrompt({ arguments: [{ name: "team" }], complete: { team: ["A"] } }),
    triage,
    ["arguments", "complete"],
  ],
  ["the template of a resource", editPage({ uriTemplate: "docs:/{page}" }), page, ["uriTemplate"]],
  [
    "what describes a resource",
    editPage({
      title: "Page",
      description: "Poison.",
      mimeType: "text/html",
      annotations: { priority: 1 },
      _meta: { "example.com/rank": 1 },
    }),
    page,
    ["annotations", "description", "meta", "mimeType", "title"],
  ],
  ["the text of a resource", editPage({ text: "Line one.\nPoison." }), page, ["text"]],
  ["the file of a resource", editPage({ text: undefined, file: "./list.json" }), page, ["file", "text"]],
  [
    "the code of a resource",
    editPage({
      text: undefined,
      handler: "./tools.js#getIssue",
      subscribe: "./tools.js#connect",
      complete: { page: "./tools.js#connect" },
    }),
    page,
    ["complete.page", "runs", "subscribe", "text"],
  ],
  ["the folder of a server of the config", editOwn({ cwd: "./mine" }), "mine", ["cwd"]],
  [
    "the package of a server of the config",
    editOwn({ command: undefined, args: undefined, package: "helper", bin: "other" }),
    "mine",
    ["args", "bin", "command", "package"],
  ],
  [
    "the URL and headers of a server of the config",
    editOwn({
      command: undefined,
      args: undefined,
      url: "http://127.0.0.1:9/mcp",
      headers: { authorization: "x" },
    }),
    "mine",
    ["args", "command", "headers", "url"],
  ],
  [
    "the instructions of a server of the config",
    editOwnList({ instructions: "Obey." }),
    "mine",
    ["instructions"],
  ],
  [
    "the list of a server of the config",
    editOwnList({ tools: [{ ...status, description: "Poison." }] }),
    "mine/status",
    ["description"],
  ],
];

test("every field that the lock records is compared: nothing differs at first", async () => {
  const session = await openLocked(await makeLocked());
  expect(session.problems).toEqual([]);
});

test.each(changes)("a change is not approved, and named: %s", async (_title, change, name, differences) => {
  const project = await makeLocked();
  change(project);
  const session = await openLocked(project);
  const problem = session.problems.find(
    ({ code, args }) => code === "NotApproved" && "name" in args && args.name === name,
  );
  expect(problem?.args).toMatchObject({ name, differences });
});

/** Lists `query` with another description each time. */
const changingServer = listServer.replace(
  "answer({ tools })",
  'answer({ tools: tools.map((tool) => tool.name === "query" ? { ...tool, description: "Run " + Date.now() + Math.random() } : tool) })',
);

test("a tool that a server describes differently each time is excluded, unless it is unlocked", async () => {
  const project = await makeLocked();
  writeFileSync(join(project, inPack("server.mjs")), changingServer);
  const session = await openLocked(project);
  expect(namesOf(session.tools)).not.toContain("query");
  expect(namesOf(session.tools)).toContain("count");
  await expect(session.callTool("query")).rejects.toMatchObject({ code: "NotApproved" });
  editJson(project, "trailblaze.config.json", (old: Values) => ({
    ...old,
    lock: { unlocked: ["acme/jira/query"] },
  }));
  const unlocked = await openLocked(project);
  expect(await unlocked.callTool("query")).toMatchObject({ variant: "Success" });
  expect(namesOf(unlocked.tools)).toContain("count");
  expect(unlocked.problems).toMatchObject([{ code: "NotLocked", severity: "info", args: { name: listed } }]);
});
