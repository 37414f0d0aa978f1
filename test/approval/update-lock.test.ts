import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordAdditions, recordRemovals } from "../../src/approval/update-lock.ts";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { writeTree } from "../support/tree.ts";
import { configWith, jira, listed, lockOf, makeJiraProject, readLockText } from "./support/locked-project.ts";

test("without a lock, an addition records nothing", async () => {
  const cwd = makeJiraProject();
  expect(await recordAdditions(cwd, ["@acme/jira"], { starts: false })).toBeUndefined();
  expect(existsSync(lockOf(cwd))).toBe(false);
});

test("with a lock, additions are recorded without their servers' tools, and removals are taken out", async () => {
  const cwd = makeJiraProject({ "@acme/jira": jira(), "@acme/more": jira() });
  await applyApproval(await planApproval(["@acme/jira"], { cwd }));
  const before = readLockText(cwd);
  writeTree(cwd, { "trailblaze.config.json": configWith([listed("search")]) });
  const recorded = await recordAdditions(cwd, ["@acme/more", "remote"], { starts: false });
  expect(recorded?.lines).toEqual([
    "Recorded in trailblaze.lock: acme/more/createIssue, acme/more/deleteIssue, acme/more/all, remote",
    "Run `trailblaze approve remote` to start it and approve its tools.",
  ]);
  expect(existsSync(join(cwd, "pids"))).toBe(false);
  expect(JSON.parse(readLockText(cwd)).servers.remote.lists).toBeNull();
  expect((await recordAdditions(cwd, ["remote"], { starts: true }))?.lines).toEqual([
    "Recorded in trailblaze.lock: remote, remote/search",
  ]);
  expect((await diffLock({ cwd })).inSync).toBe(true);
  rmSync(join(cwd, "node_modules/@acme/more"), { recursive: true });
  writeTree(cwd, { "trailblaze.config.json": {} });
  const names = { packs: ["@acme/more", "@acme/never"], servers: ["remote"] };
  expect(await recordRemovals(cwd, names)).toEqual(["acme/more", "remote"]);
  expect(readLockText(cwd)).toBe(before);
});
