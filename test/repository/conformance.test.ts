import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { judgeRun, readConformancePage } from "../../scripts/conformance-page.ts";
import { inRepository } from "../support/repository.ts";

const page = `# Conformance
## Passed
| Scenario | Revisions | What it shows |
|---|---|---|
| \`ping\` | both | an answer |
## Left out
| Scenario | Revisions | Why |
|---|---|---|
| \`resources-*\` | both | packs have none |
`;
const passed = [{ name: "Ping", status: "SUCCESS" }];
const failed = [{ name: "Ping", status: "FAILURE", errorMessage: "no answer" }];
const suite = ["ping", "resources-list"];
const faultsOf = (markdown: string, names: string[], checks: Record<string, typeof failed | typeof passed>) =>
  judgeRun(readConformancePage(markdown), names, new Map(Object.entries(checks))).flatMap(
    ({ name, fault }) => (fault === undefined ? [] : [`${name}: ${fault}`]),
  );

describe("a run of the conformance suite", () => {
  test("a run agrees with the page if listed scenarios pass and excluded scenarios fail", () => {
    expect(faultsOf(page, suite, { ping: passed, "resources-list": failed })).toEqual([]);
  });

  test.each([
    ["failure", failed],
    ["warning", [...passed, { name: "Ping", status: "WARNING", errorMessage: "no answer" }]],
    ["lack of any check that succeeds", [{ name: "Ping", status: "INFO" }]],
  ])("a run disagrees if a scenario that should pass has a %s", (_, checks) => {
    expect(faultsOf(page, suite, { ping: checks, "resources-list": failed })).toEqual([
      "ping: it has to pass",
    ]);
  });

  test("a run disagrees if an excluded scenario passes", () => {
    expect(faultsOf(page, suite, { ping: passed, "resources-list": passed })).toEqual([
      "resources-list: it passes, so it need not be left out",
    ]);
  });

  test("a run disagrees if a scenario is missing, unlisted, duplicated, removed or has no reason", () => {
    const checks = { ping: passed, "resources-list": failed };
    expect(faultsOf(page, suite, { "resources-list": failed })).toEqual(["ping: it was not run to its end"]);
    expect(faultsOf(page, suite, { ping: passed })).toEqual(["resources-list: it was not run to its end"]);
    expect(faultsOf(page, [...suite, "new"], { ...checks, new: passed })).toEqual([
      "new: the page does not have it",
    ]);
    expect(faultsOf(`${page}| \`ping\` | both | no |\n`, suite, checks)).toEqual([
      "ping: the page has it twice",
    ]);
    expect(faultsOf(page, ["ping"], checks)).toEqual(["resources-*: the suite has no such scenario"]);
    const silent = page.replace("packs have none", "");
    expect(faultsOf(silent, suite, checks)).toEqual(["resources-list: the page gives no reason"]);
  });
});

test("docs/conformance.md excludes only tasks, and a scenario that is pending in its suite", () => {
  const listed = readConformancePage(readFileSync(inRepository("docs/conformance.md"), "utf8"));
  const leftOut = listed.filter(({ expected }) => expected === "left out").map(({ name }) => name);
  expect(leftOut.filter((name) => !name.startsWith("tasks-"))).toEqual(["server-sse-polling"]);
  expect(listed.length).toBeGreaterThan(leftOut.length);
});
