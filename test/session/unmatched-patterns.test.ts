import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkHealth } from "../../src/install/check-health.ts";
import { makeProject, openForTest, probe, probeDefinition, toolPack } from "./support/session.ts";

const jira = () =>
  toolPack({ deleteIssue: {} }, "export const deleteIssue = () => 1;", {
    "package.json": { trailblaze: { tools: ["deleteIssue"], servers: ["api"] } },
    "trailblaze/servers/api.json": probeDefinition({ PROBE_PREFIX: "api" }),
  });
const makeJira = (config = "") =>
  makeProject({ "@acme/jira": jira() }, { "trailblaze.config.yaml": `logDir: logs\n${config}` });

/** The patterns that a session of this config reports, with their nearest name. */
async function unmatched(config: Record<string, unknown>) {
  const { problems } = await openForTest(makeJira(), { config });
  const found = problems.flatMap((one) => (one.code === "UnmatchedPattern" ? [one.args] : []));
  expect(found).toHaveLength(problems.length);
  return found.map(({ key, pattern, nearest }) => [key, pattern, ...nearest.slice(0, 1)]);
}

describe("a pattern or a name of a config that matches nothing", () => {
  test("an unmatched pattern is a warning with the nearest names, those of deny first", async () => {
    const config = {
      packs: {
        allow: ["acme/*", "acmee/jira"],
        deny: ["acme/jira/deleteIsue"],
        transitive: ["none"],
        memory: { "acme/jira": [], "@acme/jria": [] },
      },
      options: { "acme/jira/deletIssue": {}, "acme/jira@^1/deleteIssue": {} },
    };
    expect(await unmatched(config)).toEqual([
      ["packs.deny", "acme/jira/deleteIsue", "acme/jira/deleteIssue"],
      ["packs.transitive", "none"],
      ["packs.memory", "acme/jria", "acme/jira"],
      ["options", "acme/jira/deletIssue", "acme/jira/deleteIssue"],
      ["options", "acme/jira@^1/deleteIssue", "acme/jira/deleteIssue"],
    ]);
  });

  test("an unmatched name of a server's tool is a warning", async () => {
    const config = {
      packs: { deny: ["acme/jira/api_hang", "acme/jira/api_hung", "acme/jira/*_tell"] },
      trailblazeSubprocessToolsets: [
        { ...probe("mine"), tools: { allow: ["*", "y*"], deny: ["mine_hang", "mine_hung", "x*"] } },
      ],
    };
    expect(await unmatched(config)).toEqual([
      ["packs.deny", "acme/jira/api_hung", "acme/jira/api_hang"],
      ["trailblazeSubprocessToolsets.0.tools.deny", "mine_hung", "mine_hang"],
      ["trailblazeSubprocessToolsets.0.tools.deny", "x*"],
    ]);
  });

  test("a pattern is not reported if it may match a tool of a server that did not start", async () => {
    expect(await unmatched({ packs: { deny: ["acme/jira/api", "acme/jira/api_hung"] } })).toEqual([]);
  });

  test("an unmatched pattern is reported at its place, before other problems, also by doctor", async () => {
    const cwd = makeJira(
      "packs:\n  deny: [none]\n  memory: { acme/none: [] }\nmcpServers:\n  a: { command: node, disabled: true, x: 1, y: 1 }\n",
    );
    const session = await openForTest(cwd, { config: join(cwd, "trailblaze.config.yaml") });
    expect(session.problems).toMatchObject([
      { code: "UnmatchedPattern", severity: "warning", path: ["packs", "deny", 0], line: 3, column: 10 },
      { code: "UnmatchedPattern", path: ["packs", "memory", "acme/none"], line: 4 },
      { code: "InvalidConfig" },
      { code: "InvalidConfig" },
    ]);
    const { problems } = await checkHealth({ cwd });
    expect(problems.filter(({ code }) => code === "UnmatchedPattern")).toHaveLength(2);
  });
});
