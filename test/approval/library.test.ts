import { expect, test } from "vitest";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { configWith, listed, makeJiraProject } from "./support/locked-project.ts";

test("the library plans, applies and compares", async () => {
  const cwd = makeJiraProject(undefined, configWith([listed("search")]));
  const commands: string[] = [];
  const plan = await planApproval(["remote", "@acme/jira"], {
    cwd,
    onCommand: ({ label }) => commands.push(label),
  });
  expect(plan.changes.map(({ action, name }) => `${action} ${name}`)).toContain("approve remote/search");
  expect(plan.text).toContain("tool createIssue: new");
  expect(commands).toEqual(["remote"]);
  const narrowed = plan.narrow(plan.changes.filter(({ name }) => name !== "remote/search"));
  expect(narrowed.countUnapproved()).toBe(1);
  expect(await applyApproval(narrowed)).toMatchObject({ changed: true, denied: [], pruned: [] });
  const { inSync, servers } = await diffLock({ cwd });
  expect(inSync).toBe(false);
  expect(servers[0]?.items.map(({ name, change }) => `${name} ${change}`)).toEqual(["search added"]);
});
