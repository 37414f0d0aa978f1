import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type ApprovalOptions,
  type ApprovalPlan,
  approve as approveTargets,
  diffLock,
  planApproval,
} from "../../src/approval/approve.ts";
import { openSession } from "../../src/session.ts";
import { type Tree, writeTree } from "../support/tree.ts";
import {
  configWith,
  jira,
  listed,
  lockEverything,
  lockOf,
  makeJiraProject,
  readLockText,
  warehouse,
} from "./support/locked-project.ts";

async function approve(
  cwd: string,
  targets: readonly string[],
  options: ApprovalOptions = {},
  agree: (plan: ApprovalPlan) => boolean = () => true,
) {
  const { result, plan, isDeclined } = await approveTargets(
    targets,
    { cwd, all: targets.length === 0, ...options },
    agree,
  );
  expect(result.lockFile).toBe(lockOf(cwd));
  return { ...result, left: plan.countUnapproved(), text: plan.text, isDeclined };
}

const readLocked = (cwd: string) => JSON.parse(readLockText(cwd));
const changeProject = (cwd: string, files: Tree) => writeTree(cwd, files);
const isInSync = async (cwd: string) => (await diffLock({ cwd })).inSync;

const starts = (cwd: string) =>
  existsSync(join(cwd, "pids")) ? readFileSync(join(cwd, "pids"), "utf8").trim().split("\n").length : 0;

/** The names of a session's tools, which the lock has. */
async function toolsOf(cwd: string): Promise<string[]> {
  await using session = await openSession({ cwd, start: "lazy" });
  return session.tools.map(({ name }) => name).sort();
}

test("approving everything creates the lock, the same bytes as before", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search")]));
  const { changed, approved, left } = await approve(cwd, []);
  expect({ changed, left }).toEqual({ changed: true, left: 0 });
  expect(approved).toEqual([
    "acme/jira/createIssue",
    "acme/jira/deleteIssue",
    "acme/jira/all",
    "remote",
    "remote/search",
  ]);
  const text = readLockText(cwd);
  await lockEverything(cwd);
  expect(readLockText(cwd)).toBe(text);
  expect((await approve(cwd, [])).changed).toBe(false);
  expect(await isInSync(cwd)).toBe(true);
  expect(await toolsOf(cwd)).toEqual(["createIssue", "deleteIssue", "search"]);
});

test("an approval of everything with nothing to approve begins an empty lock", async () => {
  const cwd = makeJiraProject({});
  const named = { code: "InvalidArguments", problem: { args: { reason: "Nothing is named to deny" } } };
  for (const all of [false, true])
    await expect(approve(cwd, [], { deny: true, all })).rejects.toMatchObject(named);
  expect(existsSync(lockOf(cwd))).toBe(false);
  expect(await approve(cwd, [])).toMatchObject({ changed: true, approved: [] });
  expect(readLocked(cwd)).toEqual({ lockfileVersion: 1, packs: {}, servers: {} });
  expect(await approve(cwd, [])).toMatchObject({ changed: false });
});

test("approving one item leaves the rest, and says how much that is", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search")]));
  const result = await approve(cwd, ["acme/jira/createIssue"]);
  expect(result).toMatchObject({ changed: true, approved: ["acme/jira/createIssue"], left: 3 });
  expect(starts(cwd)).toBe(0);
  expect(readLocked(cwd)).toMatchObject({
    packs: { "@acme/jira": { version: "1.0.0", tools: { createIssue: {} } } },
    servers: {},
  });
  expect(Object.keys(readLocked(cwd).packs["@acme/jira"].tools)).toEqual(["createIssue"]);
  expect(await toolsOf(cwd)).toEqual(["createIssue"]);
});

// A tool may have its server's name.
test.each(["search", "remote"])(
  "the tool %s of a server is approved with the launch, and others are not",
  async (tool) => {
    const cwd = makeJiraProject({}, configWith([listed(tool), listed("send")]));
    const { approved, left } = await approve(cwd, [`remote/${tool}`]);
    expect({ approved, left }).toEqual({ approved: ["remote", `remote/${tool}`], left: 1 });
    expect(await toolsOf(cwd)).toEqual([tool]);
  },
);

test("a launch that is not agreed to is not started", async () => {
  const cwd = makeJiraProject({ "@acme/store": warehouse([listed("pick")]) }, configWith([listed("search")]));
  const shown: string[] = [];
  const { changed, approved, isDeclined } = await approve(cwd, [], {}, ({ text }) => {
    shown.push(text);
    return false;
  });
  expect({ changed, approved, isDeclined }).toEqual({ changed: false, approved: [], isDeclined: true });
  expect(shown).toHaveLength(1);
  expect(shown[0]).toContain("+++ server remote");
  expect(shown[0]).toContain("+++ @acme/store server warehouse");
  expect(starts(cwd)).toBe(0);
  expect(existsSync(lockOf(cwd))).toBe(false);
});

test("what an approved launch lists is a second question; declined, the launch stays", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search")]));
  const shown: string[] = [];
  const agree = ({ text }: ApprovalPlan) => {
    expect(starts(cwd)).toBe(shown.length);
    shown.push(text);
    return shown.length === 1;
  };
  expect(await approve(cwd, [], {}, agree)).toMatchObject({ changed: true, approved: ["remote"], left: 1 });
  expect(shown).toHaveLength(2);
  expect(shown[0]).not.toContain("search");
  expect(shown[1]).toContain('+    "search": {');
  expect(readLocked(cwd).servers.remote.lists).toBeNull();
  expect(await toolsOf(cwd)).toEqual([]);
});

test("--static starts nothing: lists stay unknown until they are approved, and known ones stay", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search")]));
  await approve(cwd, [], { static: true });
  expect(starts(cwd)).toBe(0);
  expect(readLocked(cwd).servers.remote.lists).toBeNull();
  expect(await toolsOf(cwd)).toEqual([]);
  await approve(cwd, ["remote"]);
  expect(await toolsOf(cwd)).toEqual(["search"]);
  changeProject(cwd, { "trailblaze.config.json": configWith([listed("search")], { env: { MORE: "1" } }) });
  await approve(cwd, [], { static: true });
  expect(readLocked(cwd).servers.remote).toMatchObject({
    launch: { env: expect.arrayContaining(["MORE"]) },
    lists: { search: {} },
  });
});

test("a server without tools is known to list none", async () => {
  const cwd = makeJiraProject({}, configWith([]));
  await approve(cwd, ["remote"], { static: true });
  expect(await approve(cwd, ["remote"])).toMatchObject({ changed: true, approved: ["remote"] });
  expect(readLocked(cwd).servers.remote.lists).toEqual({});
  await (await openSession({ cwd, lock: "frozen" })).close();
});

test("denied items are no difference; only their own name lifts that", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira() }, configWith([listed("search"), listed("send")]));
  await approve(cwd, []);
  const { denied } = await approve(cwd, ["acme/jira/deleteIssue", "remote/send"], { deny: true });
  expect(denied).toEqual(["acme/jira/deleteIssue", "remote/send"]);
  expect(readLocked(cwd)).toMatchObject({
    packs: { "@acme/jira": { denied: ["tool:deleteIssue"] } },
    servers: { remote: { denied: ["tool:send"] } },
  });
  expect(await isInSync(cwd)).toBe(true);
  expect(await toolsOf(cwd)).toEqual(["createIssue", "search"]);
  await using session = await openSession({ cwd });
  expect(session.skipped.map(({ name, reason }) => `${name} ${reason}`)).toEqual(
    expect.arrayContaining(["deleteIssue Denied", "send Denied"]),
  );
  expect((await approve(cwd, [])).changed).toBe(false);
  expect((await approve(cwd, ["@acme/jira", "remote"])).changed).toBe(false);
  await approve(cwd, ["acme/jira/deleteIssue", "remote/send"]);
  expect(await toolsOf(cwd)).toEqual(["createIssue", "deleteIssue", "search", "send"]);
  expect(readLockText(cwd)).not.toContain("denied");
});

test("a denied server of the config does not start, and is no difference", async () => {
  const cwd = makeJiraProject({}, configWith([listed("search")]));
  await approve(cwd, ["remote"], { deny: true });
  expect(await isInSync(cwd)).toBe(true);
  expect((await approve(cwd, [])).changed).toBe(false);
  await using session = await openSession({ cwd });
  expect(session.skipped).toMatchObject([{ name: "remote", reason: "Denied" }]);
  expect(starts(cwd)).toBe(0);
  await approve(cwd, ["remote"]);
  expect(await toolsOf(cwd)).toEqual(["search"]);
});

test("what is gone leaves the lock, but for denials until they are named", async () => {
  const cwd = makeJiraProject(
    { "@acme/jira": jira(), "@acme/store": jira() },
    configWith([listed("search"), listed("send")]),
  );
  await approve(cwd, []);
  await approve(cwd, ["acme/jira/deleteIssue", "acme/store/deleteIssue", "remote/send"], { deny: true });
  rmSync(join(cwd, "node_modules/@acme/store"), { recursive: true });
  changeProject(cwd, { "trailblaze.config.json": {} });
  writeTree(join(cwd, "node_modules/@acme/jira"), {
    "package.json": {
      name: "@acme/jira",
      version: "1.0.0",
      type: "module",
      trailblaze: { tools: ["createIssue"] },
    },
  });
  expect(await isInSync(cwd)).toBe(false);
  const { pruned } = await approve(cwd, []);
  expect(pruned).toEqual(["acme/jira/all", "acme/store", "remote"]);
  expect(await isInSync(cwd)).toBe(true);
  expect(readLocked(cwd)).toMatchObject({
    packs: {
      "@acme/jira": { denied: ["tool:deleteIssue"] },
      "@acme/store": { denied: ["tool:deleteIssue"] },
    },
    servers: { remote: { denied: ["tool:send"] } },
  });
  await using frozen = await openSession({ cwd, lock: "frozen" });
  expect(frozen.problems).toEqual([]);
  const denied = ["acme/jira/deleteIssue", "acme/store/deleteIssue", "remote/send"];
  expect((await approve(cwd, denied)).pruned).toEqual(denied);
  expect(readLocked(cwd).servers).toEqual({});
  expect(Object.keys(readLocked(cwd).packs)).toEqual(["@acme/jira"]);
  expect(Object.keys(readLocked(cwd).packs["@acme/jira"])).toEqual(["surface", "tools", "version"]);
});

test("another version is recorded, although it is no difference", async () => {
  const cwd = makeJiraProject();
  await approve(cwd, []);
  const file = join(cwd, "node_modules/@acme/jira/package.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("1.0.0", "1.0.1"));
  expect(await isInSync(cwd)).toBe(true);
  expect(await approve(cwd, [])).toMatchObject({ changed: true, approved: ["acme/jira"] });
  expect(readLocked(cwd).packs["@acme/jira"].version).toBe("1.0.1");
});

test("approving an item records what its pack needs", async () => {
  const needs = (env: string[]) =>
    jira(undefined, {
      "package.json": { trailblaze: { tools: ["createIssue", "deleteIssue"], needs: { env } } },
    });
  const cwd = makeJiraProject({ "@acme/jira": needs(["JIRA_TOKEN"]) });
  expect((await approve(cwd, ["acme/jira/createIssue"])).approved).toEqual([
    "acme/jira",
    "acme/jira/createIssue",
  ]);
  expect(readLocked(cwd).packs["@acme/jira"].needs).toEqual({ env: ["JIRA_TOKEN"] });
  expect(await toolsOf(cwd)).toEqual(["createIssue"]);
});

test("needs are shown before the servers that have them start", async () => {
  const store = warehouse([listed("pick")]);
  const manifest = { trailblaze: { servers: ["warehouse"], needs: { network: ["example.com"] } } };
  const cwd = makeJiraProject({ "@acme/store": { ...store, "package.json": manifest } });
  const { text } = await planApproval(["acme/store/warehouse/pick"], { cwd });
  expect(text).toContain("+++ @acme/store needs");
  expect(text).toContain("+++ @acme/store server warehouse");
});

test("a lock with conflict markers is an error, with a way out", async () => {
  const cwd = makeJiraProject();
  await approve(cwd, []);
  writeFileSync(lockOf(cwd), `<<<<<<< HEAD\n${readLockText(cwd)}`);
  await expect(planApproval(["@acme/jira"], { cwd })).rejects.toMatchObject({
    code: "LockMalformed",
    problem: { line: 1, hint: "Run `git checkout --theirs trailblaze.lock && trailblaze approve`." },
  });
});
