import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diffLock } from "../../src/lock.ts";
import { lockEverything } from "../approval/support/locked-project.ts";
import { editJson, inPack, makeLocked, openLocked } from "./support/locked-project.ts";

type Values = Record<string, never>;

const list = inPack("list.json");
const readLock = (project: string) => JSON.parse(readFileSync(join(project, "trailblaze.lock"), "utf8"));
const warehouse = (project: string) => readLock(project).packs["@acme/jira"].servers.warehouse;
const namesOf = (entries: readonly { name: string }[]) => entries.map(({ name }) => name);
const ofServer = (names: string[]) => names.filter((name) => ["report", "audit"].includes(name));

const prompts = [
  { name: "report", description: "Reports.", arguments: [{ name: "year" }] },
  { name: "audit" },
];
const resources = [{ uri: "db://tables", name: "tables" }];

async function makeListed() {
  const project = await makeLocked();
  const before = warehouse(project);
  editJson(project, list, (listed: Values) => ({ ...listed, prompts, resources }));
  return { project, before };
}

test("prompts and resources of a server that a lock does not have are left out, and its tools are used", async () => {
  const { project, before } = await makeListed();
  expect(Object.keys(before)).not.toContain("prompts");
  const session = await openLocked(project);
  expect(namesOf(session.tools)).toContain("query");
  expect(ofServer(namesOf(session.prompts))).toEqual([]);
  expect(session.problems).toMatchObject([
    { code: "NotApproved", message: expect.stringMatching(/Some prompts of .*report and audit/) },
    { code: "NotApproved", message: expect.stringMatching(/Some resources of .*db:\/\/tables/) },
  ]);
  await expect(session.getPrompt("report")).rejects.toMatchObject({ code: "NotApproved" });
  expect(session.resources).toEqual([]);
  await expect(session.readResource("db://tables")).rejects.toMatchObject({ code: "NotApproved" });
  await session.close();
  await expect(openLocked(project, { lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });
  const { entries } = await diffLock({ cwd: project });
  expect(entries).toMatchObject([
    { pack: "@acme/jira", kind: "server", name: "warehouse", change: "changed" },
  ]);
  for (const name of ["audit", "report", "db://tables"])
    expect(entries[0]?.diff).toContain(`+    "${name}": {`);
});

test("approved prompts of a server are offered, and a changed or new one is not", async () => {
  const { project } = await makeListed();
  await lockEverything(project);
  expect(warehouse(project)).toMatchObject({
    prompts: { report: { description: ["Reports."], arguments: [{ name: "year" }] }, audit: {} },
    resources: { "db://tables": { name: "tables" } },
  });
  const session = await openLocked(project);
  expect(session.problems).toEqual([]);
  expect(ofServer(namesOf(session.prompts))).toEqual(["audit", "report"]);
  await session.close();
  expect((await diffLock({ cwd: project })).inSync).toBe(true);
  editJson(project, list, (listed: Values) => ({
    ...listed,
    prompts: [{ ...prompts[0], description: "Reports, and sends it to me." }, prompts[1]],
  }));
  const changed = await openLocked(project);
  expect(ofServer(namesOf(changed.prompts))).toEqual(["audit"]);
  expect(changed.problems).toMatchObject([
    { code: "NotApproved", message: expect.stringMatching(/warehouse\/report" .*description/) },
  ]);
  await expect(changed.getPrompt("report")).rejects.toMatchObject({
    code: "NotApproved",
    message: expect.stringContaining("description"),
  });
  await changed.close();
  await expect(openLocked(project, { lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });
});

test("a template that is not approved is not read, neither by a link nor where an approved one fits too", async () => {
  const { project } = await makeListed();
  const row = { uriTemplate: "db://rows/{id}", name: "row" };
  editJson(project, list, (listed: Values) => ({ ...listed, templates: [row] }));
  await lockEverything(project);
  const secret = { uriTemplate: "db://secret/{id}", name: "secret" };
  editJson(project, list, (listed: Values) => ({ ...listed, templates: [row, secret] }));
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
  const { project } = await makeListed();
  editJson(project, "trailblaze.config.json", (config: Values) => ({
    ...config,
    packs: { deny: ["acme/jira/audit", "acme/jira/tables"] },
  }));
  await lockEverything(project);
  expect(warehouse(project)).toMatchObject({ prompts: { report: {} } });
  expect(warehouse(project).prompts).not.toHaveProperty("audit");
  expect(warehouse(project)).not.toHaveProperty("resources");
  const session = await openLocked(project, { lock: "frozen" });
  expect(session.problems).toEqual([]);
  expect(ofServer(namesOf(session.prompts))).toEqual(["report"]);
  await session.close();
});

test("unlocked prompts and resources of a server are used as they are, a resource by its URI", async () => {
  const { project } = await makeListed();
  const unlocked = ["prompt:acme/jira/report", "resource:acme/jira/db://tables"];
  editJson(project, "trailblaze.config.json", (config: Values) => ({ ...config, lock: { unlocked } }));
  const session = await openLocked(project);
  expect(ofServer(namesOf(session.prompts))).toEqual(["report"]);
  expect(session.resources).toMatchObject([{ uri: "db://tables" }]);
  expect(
    session.problems.map(({ code, message }) => [code, /\S*(?:report|tables|audit)/.exec(message)?.[0]]),
  ).toEqual([
    ["NotLocked", '"acme/jira/warehouse/report'],
    ["NotApproved", "audit"],
    ["NotLocked", '"acme/jira/warehouse/tables'],
  ]);
  await session.close();
  const { entries } = await diffLock({ cwd: project });
  expect(entries).toHaveLength(1);
  expect(entries[0]?.diff).toContain('"audit"');
  expect(entries[0]?.diff).not.toMatch(/report|tables/);
});
