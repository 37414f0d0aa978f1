import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { approve as approveTargets, diffLock } from "../../src/approval/approve.ts";
import { lockEverything, readLockText } from "../approval/support/locked-project.ts";
import { runMain } from "../support/main.ts";
import {
  count,
  inPack,
  makeJiraProject,
  makeLocked,
  makeRemote,
  mergeJson,
  openLocked,
  query,
  status,
} from "./support/locked-project.ts";

const report = { name: "report", description: "Reports.", arguments: [{ name: "year" }] };
const audit = { name: "audit" };
const resources = [{ uri: "db://tables", name: "tables" }];
const row = { uriTemplate: "db://rows/{id}", name: "row" };
const others = { prompts: [report, audit], resources };
/** Names of prompts are unique in a session. */
const ownOthers = { prompts: [{ name: "summary" }], resources };

/** What the servers of the project list besides their tools. */
function setOthers(project: string, ofPack: object, ofConfig: object = {}): string {
  const lists = {
    [inPack("list.json")]: { instructions: "Use SQL.", tools: [query, count], ...ofPack },
    "mine/list.json": { tools: [status], ...ofConfig },
  };
  for (const [path, list] of Object.entries(lists)) writeFileSync(join(project, path), JSON.stringify(list));
  return project;
}

async function approve(cwd: string, targets: readonly string[] = [], deny = false) {
  const options = { cwd, all: targets.length === 0, deny };
  return (await approveTargets(targets, options, () => true)).result;
}

const editConfig = (project: string, keys: object) => mergeJson(project, "trailblaze.config.json", keys);

const warehouse = (project: string) =>
  JSON.parse(readLockText(project)).packs["@acme/jira"].servers.warehouse;

type Session = Awaited<ReturnType<typeof openLocked>>;

/** The prompts and resources of servers that a session offers. */
const offeredBy = ({ prompts, resources }: Session) =>
  [
    ...prompts.filter(({ qualifiedName }) => qualifiedName === null).map(({ name }) => name),
    ...resources.map(({ source, uri, uriTemplate }) => `${source.server} ${uri ?? uriTemplate}`),
  ].sort();

test("approving everything records what servers list, and what changes is not offered, what goes is removed", async () => {
  const listed = { ...others, templates: [row] };
  const project = setOthers(await makeRemote(makeJiraProject()), listed, ownOthers);
  const { approved } = await approve(project);
  expect(approved).toEqual(
    expect.arrayContaining([
      ...["acme/jira/warehouse/report", "acme/jira/warehouse/db://rows/{id}", "acme/jira/triage"],
      ...["mine/summary", "mine/db://tables"],
    ]),
  );
  expect(warehouse(project)).toMatchObject({
    prompts: { audit: {}, report: { description: ["Reports."], arguments: [{ name: "year" }] } },
    resources: { "db://rows/{id}": { name: "row" }, "db://tables": { name: "tables" } },
  });
  expect(await diffLock({ cwd: project })).toMatchObject({ inSync: true });
  const unchanged = await openLocked(project, { start: "lazy" });
  expect(offeredBy(unchanged)).toHaveLength(6);

  const changed = { ...report, description: "Reports, and sends it to me." };
  setOthers(project, { ...listed, prompts: [changed] }, { prompts: ownOthers.prompts });
  const session = await openLocked(project);
  expect(offeredBy(session)).not.toContain("report");
  const problem = { code: "NotApproved", message: expect.stringMatching(/warehouse\/report" .*description/) };
  expect(session.problems).toContainEqual(expect.objectContaining(problem));
  await expect(session.getPrompt("report")).rejects.toMatchObject({ code: "NotApproved" });
  await session.close();
  await expect(openLocked(project, { lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });
  expect((await approve(project)).pruned).toEqual(["acme/jira/warehouse/audit", "mine/db://tables"]);
});

test("what a server lists that a lock does not have is left out until the command approves it by name", async () => {
  const project = await makeRemote(makeJiraProject());
  await lockEverything(project);
  setOthers(project, others, { resources });
  const session = await openLocked(project);
  expect(session.tools.map(({ name }) => name)).toContain("query");
  expect(offeredBy(session)).toEqual([]);
  expect(session.problems).toMatchObject([
    { code: "NotApproved", message: expect.stringMatching(/warehouse.*: report, audit and db:\/\/tables/) },
    { code: "NotApproved", args: { name: "mine/db://tables", state: "new" } },
  ]);
  await expect(session.getPrompt("report")).rejects.toMatchObject({ code: "NotApproved" });
  await expect(session.readResource("db://tables")).rejects.toMatchObject({ code: "NotApproved" });
  await session.close();
  await expect(openLocked(project, { lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });

  const names = ["acme/jira/warehouse/report", "mine/db://tables"];
  const { exitCode, stdout } = await runMain(["approve", ...names, "--yes"], { cwd: project });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("acme/jira/warehouse/report")]);
  const approved = await openLocked(project);
  expect(offeredBy(approved)).toEqual(["mine db://tables", "report"]);
  await approved.close();
  const { entries } = await diffLock({ cwd: project });
  const { diff } = entries.find(({ name }) => name === "warehouse") ?? {};
  for (const name of ["audit", "db://tables"]) expect(diff).toContain(`+    "${name}": {`);
  expect(diff).not.toContain('+    "report"');
});

test("a template that is not approved is not read, neither by a link nor where an approved one fits too", async () => {
  const project = setOthers(await makeRemote(makeJiraProject()), { resources, templates: [row] });
  await lockEverything(project);
  setOthers(project, { resources, templates: [row, { uriTemplate: "db://secret/{id}", name: "secret" }] });
  const session = await openLocked(project);
  const read = async (uri: string) => (await session.readResource(uri)).contents[0]?.text;
  expect(await read("db://rows/1")).toBe("read db://rows/1");
  for (const link of ["db://secret/1", "db://secret/a/b"]) await session.callTool("query", { link });
  await expect(read("db://secret/1")).rejects.toMatchObject({ code: "NotApproved" });
  await expect(read("db://secret/2")).rejects.toMatchObject({ code: "NotApproved" });
  expect(await read("db://secret/a/b")).toBe("read db://secret/a/b");
  await session.close();
});

test("what the config excludes of a pack's server is neither approved nor reported", async () => {
  const project = setOthers(await makeRemote(makeJiraProject()), others);
  editConfig(project, { packs: { deny: ["acme/jira/audit", "acme/jira/tables"] } });
  await lockEverything(project);
  expect(warehouse(project).prompts).toEqual({ report: expect.anything() });
  expect(warehouse(project)).not.toHaveProperty("resources");
  const session = await openLocked(project, { lock: "frozen" });
  expect(session.problems).toEqual([]);
  expect(offeredBy(session)).toEqual(["report"]);
});

test("unlocked prompts and resources of a server are used as they are, a resource by its URI", async () => {
  const project = setOthers(await makeLocked(), others);
  editConfig(project, {
    lock: { unlocked: ["prompt:acme/jira/report", "resource:acme/jira/db://tables"] },
  });
  const session = await openLocked(project, { start: "lazy" });
  expect(offeredBy(session)).toEqual(["report", "warehouse db://tables"]);
  expect(
    session.problems.map(({ code, message }) => [code, /report|tables|audit/.exec(message)?.[0]]),
  ).toEqual([
    ["NotLocked", "report"],
    ["NotLocked", "tables"],
    ["NotApproved", "audit"],
  ]);
  await session.close();
  const { entries } = await diffLock({ cwd: project });
  expect(entries).toHaveLength(1);
  expect(entries[0]?.diff).toContain('"audit"');
  expect(entries[0]?.diff).not.toMatch(/report|tables/);
});

test("a denied resource is not read through a template or a link, also when its server no longer lists it", async () => {
  const secret = { uri: "db://rows/7", name: "secret" };
  const project = setOthers(
    await makeRemote(makeJiraProject()),
    {},
    { templates: [row], resources: [secret] },
  );
  await approve(project);
  await approve(project, [`mine/${secret.uri}`], true);
  setOthers(project, {}, { templates: [row], resources: [] });
  const session = await openLocked(project);
  try {
    expect((await session.readResource("db://rows/8")).contents).toMatchObject([{ uri: "db://rows/8" }]);
    await session.callTool("status", { link: secret.uri });
    await expect(session.readResource(secret.uri)).rejects.toMatchObject({ code: "NotApproved" });
  } finally {
    await session.close();
  }
});

test("a denied prompt or resource of a server is no difference, and is approved by its name only", async () => {
  const project = setOthers(await makeRemote(makeJiraProject()), others, ownOthers);
  await approve(project);
  const names = ["acme/jira/warehouse/report", "mine/db://tables"];
  expect((await approve(project, names, true)).denied).toEqual(names);
  const { packs, servers } = JSON.parse(readLockText(project));
  expect(packs["@acme/jira"].denied).toEqual(["prompt:warehouse/report"]);
  expect(servers.mine.denied).toEqual(["resource:db://tables"]);
  expect(await diffLock({ cwd: project })).toMatchObject({ inSync: true });
  expect((await approve(project)).approved).toEqual([]);
  const session = await openLocked(project, { start: "lazy" });
  await session.close();
  expect(offeredBy(session)).not.toContain("report");
  expect((await approve(project, names)).approved).toEqual(names);
});
