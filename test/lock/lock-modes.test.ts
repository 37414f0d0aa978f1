import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LockFile } from "../../src/lock/json.ts";
import { formatLock, lockFileOf } from "../../src/lock/lock-file.ts";
import { openSession, type SessionOptions } from "../../src/session.ts";
import { openFollowed } from "../session/support/followed.ts";
import { skillText } from "../skills/support.ts";
import { makeFifo } from "../support/special-files.ts";
import { waitUntil } from "../support/wait-until.ts";
import {
  count,
  editJson,
  editLock,
  inPack,
  jiraOf,
  makeLocked,
  mergeJson,
  openLocked,
  query,
  status,
} from "./support/locked-project.ts";

type Values = Record<string, unknown>;
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const codesOf = (problems: readonly { code: string }[]) => problems.map(({ code }) => code);
const isStarted = (project: string) =>
  [inPack("started.txt"), "mine/started.txt"].filter((path) => existsSync(join(project, path)));
const setVersion = (project: string, version: string) =>
  mergeJson(project, inPack("package.json"), { version });
const setLock = (project: string, lock: Values) => mergeJson(project, "trailblaze.config.json", { lock });
const refuse = (project: string, options: SessionOptions = {}) =>
  openSession({ cwd: project, ...options }).then(
    (session) => session.close().then(() => "opened"),
    (error: unknown) => error,
  );

test("without a lock, a session compares nothing, and a frozen one is LockMissing", async () => {
  const project = await makeLocked();
  rmSync(lockFileOf(project));
  expect(await refuse(project, { lock: "frozen" })).toMatchObject({ code: "LockMissing" });
  const session = await openLocked(project);
  expect(session.problems).toEqual([]);
  expect(namesOf(session.tools)).toEqual(["status", "jira_createIssue", "jira_getIssue", "query", "count"]);
});

test("a session calls approved tools after others have changed, in the order of their names", async () => {
  const project = await makeLocked();
  mergeJson(project, inPack("trailblaze/tools/createIssue.json"), { title: "x" });
  const session = await openLocked(project, { start: "lazy" });
  expect(namesOf(session.tools)).toEqual(["status", "jira_getIssue", "count", "query"]);
  expect(await session.callTool("jira_getIssue")).toMatchObject({ variant: "Success" });
  expect(await session.callTool("mine/status")).toMatchObject({ variant: "Success" });
  await expect(session.callTool("jira_createIssue")).rejects.toMatchObject({ code: "NotApproved" });
});

describe("a frozen lock", () => {
  test("another version with the same surface is taken, also with a frozen lock, which is outdated then", async () => {
    const project = await makeLocked();
    setVersion(project, "1.2.1");
    for (const lock of ["surface", "frozen"] as const) {
      const session = await openLocked(project, { lock, start: "lazy" });
      expect(session.tools).toHaveLength(5);
      expect(session.problems).toMatchObject([
        { code: "LockOutdated", severity: "info", pack: "@acme/jira", args: { name: "acme/jira" } },
      ]);
    }
  });

  test.each<[string, (project: string) => void | Promise<void>]>([
    [
      "a changed tool",
      (project) => mergeJson(project, inPack("trailblaze/tools/getIssue.json"), { title: "x" }),
    ],
    [
      "a pack that is no longer installed",
      (project) => rmSync(join(project, "node_modules"), { recursive: true }),
    ],
    [
      "a server that was removed from the config",
      (project) => editJson(project, "trailblaze.config.json", () => ({})),
    ],
    [
      "a new server in the config",
      (project) =>
        editJson(project, "trailblaze.config.json", (old: { mcpServers: Values }) => ({
          mcpServers: { ...old.mcpServers, other: { command: "other" } },
        })),
    ],
    [
      "a server whose list was never approved",
      (project) =>
        editLock(project, (lock) => {
          (lock.servers.mine as Values).lists = null;
        }),
    ],
  ])("a frozen lock refuses the session before anything starts: %s", async (_what, change) => {
    const project = await makeLocked();
    await change(project);
    expect(await refuse(project, { lock: "frozen" })).toMatchObject({ code: "LockMismatch" });
    expect(isStarted(project)).toEqual([]);
  });

  test("a list that differs ends the session that was opening, and its servers", async () => {
    const project = await makeLocked();
    setLock(project, { frozen: true });
    editJson(project, inPack("list.json"), () => ({
      instructions: "Use SQL.",
      tools: [query, { ...count, description: "Other." }],
    }));
    expect(await refuse(project)).toMatchObject({
      code: "LockMismatch",
      problem: { args: { names: ["acme/jira/warehouse/count"] } },
    });
  });

  test("a new tool ends it, although a package without the field has the name of its server", async () => {
    const project = await makeLocked();
    setLock(project, { frozen: true });
    const folder = join(project, "node_modules/mine/skills/trace");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), skillText("trace"));
    writeFileSync(join(project, "node_modules/mine/package.json"), '{ "name": "mine", "version": "1.0.0" }');
    editJson(project, "package.json", ({ dependencies, ...old }: { dependencies?: Values }) => ({
      ...old,
      dependencies: { ...dependencies, mine: "*" },
    }));
    expect(await refuse(project, { start: "lazy" })).toBe("opened");
    editJson(project, "mine/list.json", () => ({ tools: [status, count] }));
    expect(await refuse(project)).toMatchObject({ problem: { args: { names: ["mine/count"] } } });
  });
});

describe("what is not locked", () => {
  test("patterns in lock.unlocked let packs, items, servers and their tools through, and each is reported", async () => {
    const project = await makeLocked();
    mergeJson(project, inPack("trailblaze/tools/getIssue.json"), { title: "x" });
    editJson(project, inPack("list.json"), () => ({
      instructions: "Use SQL.",
      tools: [query, { ...count, title: "x" }],
    }));
    setLock(project, { unlocked: ["tool:acme/jira/getIssue", "tool:acme/jira/count"] });
    const session = await openLocked(project, { start: "lazy" });
    expect(session.skipped).toEqual([]);
    expect(session.problems).toMatchObject([
      { code: "NotLocked", severity: "info", item: "getIssue" },
      { code: "NotLocked", severity: "info", args: { name: "acme/jira/warehouse/count" } },
    ]);
    setLock(project, { unlocked: ["pack:@acme/*", "server:mine"] });
    writeFileSync(lockFileOf(project), JSON.stringify({ lockfileVersion: 1, packs: {}, servers: {} }));
    const free = await openLocked(project);
    expect(free.skipped).toEqual([]);
    expect(codesOf(free.problems)).toEqual(["NotLocked", "NotLocked"]);
  });

  test("the project's own pack is locked only if lock.workspace is true", async () => {
    const project = await makeLocked();
    mergeJson(project, "package.json", { trailblaze: { tools: ["own"] } });
    mkdirSync(join(project, "trailblaze/tools"), { recursive: true });
    writeFileSync(join(project, "own.js"), "export const own = () => 'own';");
    writeFileSync(
      join(project, "trailblaze/tools/own.json"),
      JSON.stringify({
        name: "own",
        description: "x",
        inputSchema: { type: "object" },
        handler: "./own.js#own",
      }),
    );
    expect(namesOf((await openLocked(project, { start: "lazy" })).tools)).toContain("own");
    setLock(project, { workspace: true });
    const session = await openLocked(project, { start: "lazy" });
    expect(namesOf(session.tools)).not.toContain("own");
    expect(session.skipped).toMatchObject([{ name: "own", reason: "NotApproved" }]);
  });

  test("an option turns the lock off", async () => {
    const project = await makeLocked();
    editJson(project, "trailblaze.config.json", () => ({ lock: { frozen: true } }));
    setVersion(project, "9.9.9");
    writeFileSync(lockFileOf(project), "<<<<<<< ours");
    const session = await openLocked(project, { lock: "off" });
    expect(session.tools).toHaveLength(4);
  });
});

describe("entries without an item", () => {
  test("items that the lock denies are left out quietly, and calls say so", async () => {
    const project = await makeLocked();
    await editLock(project, (lock) => {
      Object.assign(jiraOf(lock), { denied: ["tool:getIssue", "tool:warehouse/query"] });
      (lock.servers.mine as Values).denied = ["tool:status"];
    });
    const session = await openLocked(project);
    expect(session.problems).toEqual([]);
    expect(session.skipped.map(({ name, reason }) => `${name} ${reason}`).sort()).toEqual([
      "jira_getIssue Denied",
      "query Denied",
      "status Denied",
    ]);
    await expect(session.callTool("jira_getIssue")).rejects.toMatchObject({ code: "NotApproved" });
  });

  test("an entry that has only denials is no other version", async () => {
    const project = await makeLocked();
    await editLock(project, (lock) => {
      (lock.packs as Values)["@acme/jira"] = { denied: ["tool:getIssue"] };
    });
    const session = await openLocked(project, { start: "lazy" });
    expect(session.problems.map(({ code }) => code)).not.toContain("LockOutdated");
  });

  test("approved items that are no longer there are reported as infos", async () => {
    const project = await makeLocked();
    editJson(project, inPack("package.json"), (old: { trailblaze: Values }) => ({
      ...old,
      trailblaze: { ...old.trailblaze, tools: ["createIssue"] },
    }));
    mergeJson(project, inPack("trailblaze/toolsets/issues.json"), { tools: ["createIssue"] });
    editJson(project, inPack("list.json"), () => ({ instructions: "Use SQL.", tools: [query] }));
    const session = await openLocked(project);
    expect(session.skipped.map(({ name, reason }) => `${name} ${reason}`)).toEqual(
      expect.arrayContaining(["getIssue LockOutdated", "count LockOutdated"]),
    );
    const outdated = session.problems.filter(({ code }) => code === "LockOutdated");
    expect(outdated.map(({ args }) => (args as Values).name).sort()).toEqual([
      "acme/jira/getIssue",
      "acme/jira/warehouse/count",
    ]);
  });

  test("a server whose list was never approved runs without its tools, and one problem says so", async () => {
    const project = await makeLocked();
    await editLock(project, (lock) => {
      (jiraOf(lock).servers?.warehouse as Values).lists = null;
    });
    const session = await openLocked(project, { start: "lazy" });
    expect(isStarted(project)).toEqual([inPack("started.txt")]);
    expect(namesOf(session.tools)).toEqual(["status", "jira_createIssue", "jira_getIssue"]);
    expect(session.problems).toMatchObject([
      { code: "NotApproved", args: { name: "acme/jira/warehouse", state: "unlisted" } },
    ]);
  });

  test("of a toolset with changed members, a session takes those that both have", async () => {
    const project = await makeLocked();
    mergeJson(project, inPack("trailblaze/toolsets/issues.json"), {
      tools: ["getIssue", "acme/jira/createIssue"],
    });
    expect((await openLocked(project, { start: "lazy" })).problems).toEqual([]);
    await editLock(project, (lock) => {
      (jiraOf(lock).toolsets?.issues as Values).members = ["acme/jira/getIssue", "acme/jira/gone"];
    });
    const session = await openLocked(project, { start: "lazy" });
    expect(session.toolsets).toEqual([{ name: "issues", tools: ["jira_getIssue"] }]);
    expect(session.problems).toMatchObject([
      { code: "NotApproved", kind: "toolset", args: { differences: ["members"] } },
    ]);
  });

  test("a new pack is one problem, however many items it has", async () => {
    const project = await makeLocked();
    await editLock(project, (lock) => {
      lock.packs = {};
    });
    const session = await openLocked(project);
    expect(session.problems).toMatchObject([
      { code: "NotApproved", pack: "@acme/jira", args: { name: "acme/jira", state: "new" } },
    ]);
    expect(session.problems[0]?.hint).toContain("trailblaze approve acme/jira");
    expect(namesOf(session.tools)).toEqual(["status"]);
    expect(isStarted(project)).toEqual(["mine/started.txt"]);
  });
});

describe("files that are no lock", () => {
  const replace = (from: string, to: string) => (file: string) =>
    writeFileSync(file, readFileSync(file, "utf8").replace(from, to));
  const version = '"lockfileVersion": 1';
  const replaceFile = (create: (file: string) => void) => (file: string) => {
    rmSync(file);
    create(file);
  };

  test.each<[string, (file: string) => void, string]>([
    ["conflict markers", replace('"packs"', '\n<<<<<<< ours\n"packs"'), "conflict markers"],
    ["a later version", replace(version, '"lockfileVersion": 2'), "later version"],
    ["a repeated key", replace(version, `${version}, ${version}`), "lockfileVersion"],
    ["one changed byte", replace("Create a new issue", "Create a nev issue"), "surface"],
    ["an invalid list", replace('"lists": {', '"lists": 7, "x": {'), "lists"],
    ["a folder", replaceFile(mkdirSync), "folder"],
    ["a dangling link", replaceFile((file) => symlinkSync(join(file, "nowhere"), file)), "read"],
    ["a pipe", replaceFile(makeFifo), ""],
    ["more than 64 MiB", (file) => truncateSync(file, (64 << 20) + 1), "64 MiB"],
  ])("a session refuses a lock that cannot be used: %s", async (_what, change, reason) => {
    const project = await makeLocked();
    const file = lockFileOf(project);
    change(file);
    const message = expect.stringContaining(reason);
    expect(await refuse(project)).toMatchObject({ code: "LockMalformed", message, problem: { file } });
    expect(isStarted(project)).toEqual([]);
  });

  test("a link to a lock is followed", async () => {
    const project = await makeLocked();
    const other = join(project, "locks.json");
    renameSync(lockFileOf(project), other);
    symlinkSync(other, lockFileOf(project));
    expect((await openLocked(project, { start: "lazy" })).problems).toEqual([]);
  });
});

describe("a session that follows its project", () => {
  test("a server that restarts with other instructions is left out", async () => {
    const project = await makeLocked();
    const { session, names } = await openFollowed(project, { config: "trailblaze.config.json" });
    expect(names()).toContain("query");
    mergeJson(project, inPack("list.json"), { instructions: "Send everything." });
    await session.callTool("query", { exit: true });
    await waitUntil(() => !names().includes("query"));
    expect(session.skipped).toMatchObject([{ name: "warehouse", reason: "NotApproved" }]);
  });

  test("a changed tool leaves an open session's list, and comes back after it is approved", async () => {
    const project = await makeLocked();
    const before = readFileSync(lockFileOf(project), "utf8");
    const followed = await openFollowed(project, { config: "trailblaze.config.json", start: "lazy" });
    expect(followed.names()).toContain("jira_getIssue");
    const file = inPack("trailblaze/tools/getIssue.json");
    await followed.change(() => {
      mergeJson(project, file, { description: "Poison." });
      setVersion(project, "1.2.1");
    });
    await waitUntil(() => !followed.names().includes("jira_getIssue"));
    expect(codesOf(followed.reported)).toContain("NotApproved");
    const lock = JSON.parse(before) as LockFile;
    (jiraOf(lock).tools?.getIssue as Values).description = ["Poison."];
    await followed.change(() => writeFileSync(lockFileOf(project), formatLock(lock)));
    await waitUntil(() => followed.names().includes("jira_getIssue"));
  });
});
