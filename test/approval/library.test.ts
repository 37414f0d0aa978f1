import { expect, test } from "vitest";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { configWith, listed, makeJiraProject } from "./support/locked-project.ts";

test("the library plans, applies and compares", async () => {
  const cwd = makeJiraProject(undefined, configWith([listed("search")]));
  const commands: string[] = [];
  const options = { cwd, onCommand: ({ label }: { label: string }) => commands.push(label) };
  const first = await planApproval(["remote", "@acme/jira"], options);
  expect(first.text).toContain("+++ @acme/jira tool createIssue");
  expect(commands).toEqual([]);
  await applyApproval(first);
  const plan = await planApproval(["remote", "@acme/jira"], options);
  expect(plan.changes.map(({ action, name }) => `${action} ${name}`)).toContain("approve remote/search");
  expect(commands).toEqual(["remote"]);
  const narrowed = plan.narrow(plan.changes.filter(({ name }) => name !== "remote/search"));
  expect(narrowed.countUnapproved()).toBe(1);
  expect(await applyApproval(narrowed)).toMatchObject({ changed: true, denied: [], pruned: [] });
  const { inSync, entries } = await diffLock({ cwd });
  expect(inSync).toBe(false);
  expect(entries).toMatchObject([{ server: "remote", kind: "server", name: "remote", change: "changed" }]);
  expect(entries[0]?.diff).toContain('+    "search": {');
});
