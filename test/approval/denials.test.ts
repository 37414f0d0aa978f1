import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordAdditions, recordRemovals } from "../../src/approval/update-lock.ts";
import { partsOf } from "../../src/lock/parts.ts";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { openSession } from "../../src/session.ts";
import { writeTree } from "../support/tree.ts";
import {
  configWith,
  jira,
  listed,
  makeJiraProject,
  readLockText,
  warehouse,
} from "./support/locked-project.ts";

const approve = async (cwd: string, names: string[], options: { deny?: boolean; static?: boolean } = {}) =>
  applyApproval(await planApproval(names, { cwd, all: names.length === 0, ...options }));
const readLocked = (cwd: string) => JSON.parse(readLockText(cwd));
const withPackage = () => {
  const helper = { name: "helper", version: "1.0.0", bin: "./a.js" };
  const cwd = makeJiraProject({}, { mcpServers: { mine: { package: "helper" } } });
  writeTree(cwd, { "node_modules/helper/package.json": helper, "node_modules/helper/a.js": "" });
  return cwd;
};

test("a denial of what was never approved records nothing else, and the lock stays usable", async () => {
  const cwd = withPackage();
  await approve(cwd, ["mine"], { deny: true });
  expect(readLocked(cwd).servers.mine).toEqual({ denied: ["server:mine"], surface: expect.any(String) });
  expect((await diffLock({ cwd })).inSync).toBe(true);
  const other = makeJiraProject();
  await approve(other, ["acme/jira/deleteIssue"], { deny: true });
  rmSync(join(other, "node_modules/@acme"), { recursive: true });
  expect((await diffLock({ cwd: other })).inSync).toBe(true);
});

test("removing and adding a server or a pack lifts no denial", async () => {
  const cwd = makeJiraProject({ jira: jira() }, configWith([listed("search")]));
  await approve(cwd, ["remote", "jira/deleteIssue"], { deny: true });
  const denied = {
    packs: { jira: { denied: ["tool:deleteIssue"] } },
    servers: { remote: { denied: ["server:remote"] } },
  };
  await recordRemovals(cwd, { packs: ["jira"], servers: ["remote"] });
  expect(readLocked(cwd)).toMatchObject(denied);
  const shown = { text: "", after: partsOf(readLocked(cwd)) };
  await recordAdditions(cwd, ["jira", "remote"], { starts: false, shown, agree: () => true });
  expect(readLocked(cwd)).toMatchObject(denied);
});

test("what another process denies while a plan waits stays denied", async () => {
  const cwd = makeJiraProject(
    { "@acme/jira": jira(), "@acme/store": warehouse([listed("pick")]) },
    configWith([]),
  );
  const plan = await planApproval([], { cwd, all: true });
  await approve(cwd, ["acme/jira/deleteIssue", "acme/store/warehouse", "remote"], { deny: true });
  await applyApproval(plan);
  const { packs, servers } = readLocked(cwd);
  expect(packs["@acme/jira"]).toMatchObject({ denied: ["tool:deleteIssue"], tools: { createIssue: {} } });
  expect(packs["@acme/jira"].tools).not.toHaveProperty("deleteIssue");
  expect(packs["@acme/store"]).toEqual({ denied: ["server:warehouse"], surface: expect.any(String) });
  expect(servers.remote).not.toHaveProperty("launch");
});

test("denying starts no server, and says if nothing that is named can be denied", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search")]));
  await approve(cwd, ["remote"], { static: true });
  await approve(cwd, ["remote"], { deny: true });
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  await approve(cwd, ["remote"], { static: true });
  const denial = planApproval(["remote/other"], { cwd, deny: true, static: true });
  await expect(denial).rejects.toMatchObject({ code: "InvalidArguments" });
});

test("a denial goes before a pattern of lock.unlocked", async () => {
  const cwd = makeJiraProject();
  await approve(cwd, []);
  await approve(cwd, ["acme/jira/deleteIssue"], { deny: true });
  writeTree(cwd, { "trailblaze.config.json": { lock: { unlocked: ["tool:acme/jira/*"] } } });
  await using session = await openSession({ cwd });
  expect(session.tools.map(({ name }) => name)).toEqual(["createIssue"]);
});

test("a pack that loses all its items is a difference", async () => {
  const cwd = makeJiraProject();
  await approve(cwd, []);
  const file = join(cwd, "node_modules/@acme/jira/package.json");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), trailblaze: {} }));
  const { entries } = await diffLock({ cwd });
  expect(entries.map(({ name, change }) => `${name} ${change}`)).toEqual([
    ...["createIssue removed", "deleteIssue removed", "all removed"],
  ]);
  await expect(openSession({ cwd, lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });
  expect((await approve(cwd, [])).pruned).toHaveLength(3);
  expect((await diffLock({ cwd })).inSync).toBe(true);
});
