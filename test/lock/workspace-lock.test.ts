import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { lockFileOf } from "../../src/lock/lock-file.ts";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { openSession } from "../../src/session.ts";
import { makeTree } from "../support/packs.ts";

const pack = (name: string, tool: string) => ({
  [`${name}/package.json`]: {
    name: basename(name),
    version: "1.0.0",
    type: "module",
    trailblaze: { tools: [tool] },
  },
  [`${name}/trailblaze/tools/${tool}.json`]: {
    name: tool,
    description: tool,
    inputSchema: { type: "object" },
    handler: "./lib.js#run",
  },
  [`${name}/lib.js`]: "export const run = () => 'ran';",
});

let root: string;
let member: string;

beforeEach(() => {
  root = makeTree({
    "package.json": {
      name: "root",
      private: true,
      workspaces: ["packages/*"],
      dependencies: { shared: "1" },
    },
    "packages/app/package.json": {
      name: "app",
      version: "1.0.0",
      dependencies: { shared: "1", late: "1", lib: "1" },
    },
    ...pack("packages/lib", "build"),
    ...pack("node_modules/shared", "share"),
    "trailblaze.config.json": { mcpServers: { mine: { command: "node" } } },
    ...pack("node_modules/late", "late"),
  });
  member = join(root, "packages/app");
});

const approve = async (cwd: string, names: string[]) =>
  applyApproval(await planApproval(names, { cwd, all: names.length === 0, static: true }));

async function toolsIn(cwd: string, lock?: "frozen") {
  await using session = await openSession({ cwd, lock });
  return [
    session.tools.map(({ name }) => name).sort(),
    session.problems.map(({ code, pack: name }) => `${code} ${name}`),
  ];
}

test("without a lock of its own, a member has that of its workspace, which may have more", async () => {
  await approve(root, ["shared", "mine"]);
  expect(await toolsIn(member)).toEqual([["build", "share"], ["NotApproved late"]]);
  expect(await diffLock({ cwd: member })).toMatchObject({
    lockFile: lockFileOf(root),
    entries: [{ pack: "late", kind: "tool", name: "late", change: "added" }],
  });
  await expect(openSession({ cwd: member, lock: "frozen" })).rejects.toMatchObject({ code: "LockMismatch" });
});

test("approving in a member begins its own lock with what the one above approves there", async () => {
  await approve(root, ["shared", "mine"]);
  const before = readFileSync(lockFileOf(root), "utf8");
  expect(await approve(member, ["shared"])).toMatchObject({ changed: false });
  expect(existsSync(lockFileOf(member))).toBe(false);
  expect((await approve(member, ["late"])).lockFile).toBe(lockFileOf(member));
  const own = JSON.parse(readFileSync(lockFileOf(member), "utf8"));
  expect([Object.keys(own.packs), own.servers]).toEqual([["late", "shared"], {}]);
  expect(readFileSync(lockFileOf(root), "utf8")).toBe(before);
  // A pack of the workspace is free only inside the folder of the lock.
  expect(await toolsIn(member)).toEqual([["late", "share"], ["NotApproved lib"]]);
  await approve(member, []);
  expect(await toolsIn(member, "frozen")).toEqual([["build", "late", "share"], []]);
});

test("a lock above that is malformed is an error, and one outside of a workspace is none", async () => {
  writeFileSync(lockFileOf(root), "{");
  await expect(openSession({ cwd: member })).rejects.toMatchObject({ code: "LockMalformed" });
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "root", private: true }));
  expect((await toolsIn(member))[0]).toEqual(expect.arrayContaining(["share"]));
});
