import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeProject, openForTest } from "../session/support/session.ts";
import { runMain } from "../support/main.ts";
import { skillText } from "./support.ts";

test("commands show skills, and an invalid one is left out alone", async () => {
  const cwd = makeProject({
    "@acme/jira": {
      "package.json": { description: "Jira." },
      "skills/work/triage/SKILL.md": skillText("triage", "Ask first."),
      "skills/work/triage/guide.md": "Guide",
      "skills/broken/SKILL.md": skillText("other"),
    },
    tools: {
      "package.json": { trailblaze: undefined },
      "skills/a/SKILL.md": skillText("a"),
      "skills/b/SKILL.md": skillText("b"),
    },
  });
  const run = (...args: string[]) => runMain(args, { cwd });
  expect((await run("list")).stdout).toMatch(/^tools +1\.0\.0 +direct +approval +2 skills$/m);
  expect((await run("list", "skills")).stdout).toMatch(/^acme\/jira\/triage +1\.0\.0$/m);
  const digest = /guide\.md\W+5\W+sha256-[\w+/]{43}=/;
  const inspected = await run("inspect", "acme/jira/triage");
  for (const shown of [/^How to triage\.$/m, digest, /^Ask first\.$/m])
    expect(inspected.stdout).toMatch(shown);
  const docs = await run("docs", "@acme/jira");
  for (const shown of [/^### `triage`$/m, digest]) expect(docs.stdout).toMatch(shown);
  await run("catalog", "--out", "site");
  expect(readFileSync(join(cwd, "site/index.html"), "utf8")).toContain("How to triage.");
  const dry = await run("approve", "--all", "--dry-run");
  expect(dry.stdout).toBe("Would approve acme/jira/triage.\n");
  for (const shown of [/^ {2}Ask first\.$/m, /^ {2}guide\.md$/m]) expect(dry.stderr).toMatch(shown);

  const { skills, skipped, problems } = await openForTest(cwd);
  expect(skills).toMatchObject([{ qualifiedName: "acme/jira/triage" }]);
  expect(skipped).toMatchObject([
    { kind: "skill", name: "broken", reason: "Invalid" },
    { kind: "skill", name: "a", reason: "NotApproved" },
    { kind: "skill", name: "b", reason: "NotApproved" },
  ]);
  expect(problems).toMatchObject([
    { code: "InvalidSkill", pack: "@acme/jira", kind: "skill", item: "broken" },
  ]);
});
