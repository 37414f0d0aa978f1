import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApprovalOptions } from "../../src/approval/approve.ts";
import { approve as approveTargets } from "../../src/approval/approve.ts";
import { diffLock } from "../../src/approval/diff-lock.ts";
import { inPack, makeJiraProject, openLocked, query, status } from "../lock/support/locked-project.ts";
import { runMain } from "../support/main.ts";
import { lockEverything, readLockText } from "./support/locked-project.ts";

const report = { name: "report", description: "Reports.", arguments: [{ name: "year" }] };
const audit = { name: "audit" };
const tables = { uri: "db://tables", name: "tables" };
const row = { uriTemplate: "db://rows/{id}", name: "row" };
const others = { prompts: [report, audit], resources: [tables], templates: [row] };
/** Names of prompts are unique in a session. */
const ownOthers = { ...others, prompts: [{ name: "summary" }] };

/** What the servers of the project list besides their tools. */
function setOthers(project: string, ofPack: object, ofConfig: object = ownOthers) {
  writeFileSync(
    join(project, inPack("list.json")),
    JSON.stringify({ instructions: "Use SQL.", tools: [query], ...ofPack }),
  );
  writeFileSync(join(project, "mine/list.json"), JSON.stringify({ tools: [status], ...ofConfig }));
}

function makeListed() {
  const project = makeJiraProject();
  setOthers(project, others);
  return project;
}

async function approve(cwd: string, targets: readonly string[], options: ApprovalOptions = {}) {
  const { result, plan } = await approveTargets(
    targets,
    { cwd, all: targets.length === 0, ...options },
    () => true,
  );
  const { approved, denied, pruned } = result;
  return { approved, denied, pruned, text: plan.text };
}

const serversOf = (project: string) => {
  const { packs, servers } = JSON.parse(readLockText(project));
  return { warehouse: packs["@acme/jira"]?.servers?.warehouse, mine: servers.mine };
};

/** The prompts and resources of servers that a session offers. */
async function offered(project: string) {
  const session = await openLocked(project);
  await session.close();
  const labelOf = ({ source }: { source: { item?: string; server?: string } }) =>
    source.item ?? source.server;
  const prompts = session.prompts.filter(({ qualifiedName }) => qualifiedName === null);
  return [
    ...prompts.map((one) => `${labelOf(one)}/${one.name}`),
    ...session.resources.map((one) => `${labelOf(one)}/${one.uri ?? one.uriTemplate}`),
  ].sort();
}

test("approving everything records the prompts, resources and templates of servers", async () => {
  const project = makeListed();
  const { approved } = await approve(project, []);
  expect(approved).toEqual(
    expect.arrayContaining([
      ...["acme/jira/warehouse/report", "acme/jira/warehouse/db://rows/{id}", "acme/jira/triage"],
      ...["mine/summary", "mine/db://tables"],
    ]),
  );
  const text = readLockText(project);
  await lockEverything(project);
  expect(readLockText(project)).toBe(text);
  const listed = { "db://rows/{id}": { name: "row" }, "db://tables": { name: "tables" } };
  expect(serversOf(project)).toMatchObject({
    warehouse: {
      prompts: { audit: {}, report: { description: ["Reports."], arguments: [{ name: "year" }] } },
      resources: listed,
    },
    mine: { prompts: { summary: {} }, resources: listed },
  });
  expect(await diffLock({ cwd: project })).toMatchObject({ inSync: true });
  expect((await approve(project, [])).approved).toEqual([]);
  expect(await offered(project)).toEqual([
    ...["mine/db://rows/{id}", "mine/db://tables", "mine/summary"],
    ...["warehouse/audit", "warehouse/db://rows/{id}", "warehouse/db://tables", "warehouse/report"],
  ]);
});

test("the command approves a prompt and a resource by the names that the problems give", async () => {
  const project = makeListed();
  const names = ["acme/jira/warehouse/report", "mine/db://tables"];
  const { exitCode, stdout, stderr } = await runMain(["approve", ...names, "--yes"], { cwd: project });
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("acme/jira/warehouse/report")]);
  expect(stderr).toContain("report");
  const { warehouse, mine } = serversOf(project);
  expect([warehouse.lists, warehouse.prompts, warehouse.resources]).toEqual([
    {},
    { report: expect.objectContaining({ description: ["Reports."] }) },
    undefined,
  ]);
  expect([mine.lists, mine.prompts, mine.resources]).toEqual([
    {},
    undefined,
    { "db://tables": { name: "tables" } },
  ]);
  expect(await offered(project)).toEqual(["mine/db://tables", "warehouse/report"]);
  const { entries } = await diffLock({ cwd: project });
  const { diff } = entries.find(({ name }) => name === "warehouse") ?? {};
  for (const name of ["query", "audit", "db://rows/{id}", "db://tables"])
    expect(diff).toContain(`+    "${name}": {`);
  expect(diff).not.toContain('+    "report"');
});

test("a denied prompt or resource of a server is no difference, and is approved by its name only", async () => {
  const project = makeListed();
  await approve(project, []);
  const names = ["acme/jira/warehouse/report", "mine/db://tables"];
  expect((await approve(project, names, { deny: true })).denied).toEqual(names);
  const { packs, servers } = JSON.parse(readLockText(project));
  expect(packs["@acme/jira"].denied).toEqual(["prompt:warehouse/report"]);
  expect(servers.mine.denied).toEqual(["resource:db://tables"]);
  expect(await diffLock({ cwd: project })).toMatchObject({ inSync: true });
  expect((await approve(project, [])).approved).toEqual([]);
  expect(await offered(project)).not.toContain("warehouse/report");
  expect((await approve(project, names)).approved).toEqual(names);
});

test("what a server no longer lists is removed", async () => {
  const project = makeListed();
  await approve(project, []);
  setOthers(project, { ...others, prompts: [audit] }, { ...ownOthers, resources: [], templates: [] });
  expect((await approve(project, [])).pruned).toEqual([
    ...["acme/jira/warehouse/report", "mine/db://rows/{id}", "mine/db://tables"],
  ]);
  const text = readLockText(project);
  await lockEverything(project);
  expect(readLockText(project)).toBe(text);
});
