import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { judgeRun, readConformancePage } from "../../scripts/conformance-page.ts";
import { inRepository } from "../support/repository.ts";

const _page = `# Conformance
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
const _suite = ["ping", "resources-list"];
const _faultsOf = (
  markdown: string,
  names: string[],
  checks: Record<string, typeof failed | typeof passed>,
) =>
  judgeRun(readConformancePage(markdown), names, new Map(Object.entries(checks))).flatMap(
    ({ name, fault }) => (fault === undefined ? [] : [`${name}: ${fault}`]),
  );

test("docs/conformance.md excludes only tasks, and a scenario that is pending in its suite", () => {
  const listed = readConformancePage(readFileSync(inRepository("docs/conformance.md"), "utf8"));
  const leftOut = listed.filter(({ expected }) => expected === "left out").map(({ name }) => name);
  expect(leftOut.filter((name) => !name.startsWith("tasks-"))).toEqual(["server-sse-polling"]);
  expect(listed.length).toBeGreaterThan(leftOut.length);
});
