import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { jsonOf, makeProject, openForTest, probe, probeServer } from "./support/session.ts";

/** The entry of a probe without its name, as `mcpServers` has it. */
const pasted = (name: string, changes: object = {}) => {
  const { name: _, ...entry } = probe(name);
  return { ...entry, ...changes };
};

test("a session has the tools of enabled servers only", async () => {
  const session = await openForTest(makeProject({}), {
    config: {
      trailblazeSubprocessToolsets: [probe("listed"), { ...probe("off"), enabled: false }],
      mcpServers: {
        "my files": pasted("pasted"),
        gone: pasted("gone", { disabled: true }),
        far: { url: "http://127.0.0.1:1/mcp", disabled: true },
      },
    },
  });
  const servers = [...new Set(session.tools.map(({ source }) => source.server))];
  expect(servers).toEqual(["listed", "my files"]);
  expect(session.skipped).toEqual([]);
  expect(session.problems).toEqual([]);
});

describe("references to variables in the servers of a config", () => {
  const withVariables = (changes: object) => ({
    mcpServers: { vars: pasted("vars", changes) },
  });

  test("variables are replaced in the environment, the arguments and the folder of a server, and shown as written", async () => {
    vi.stubEnv("PROBE_TEST_SECRET", "hunter2");
    vi.stubEnv("PROBE_TEST_EMPTY", "");
    const shown: unknown[] = [];
    const cwd = makeProject({}, { "folder/a.txt": "" });
    const session = await openForTest(cwd, {
      config: withVariables({
        args: [probeServer, "${PROBE_TEST_SECRET}"],
        cwd: "${PROBE_TEST_FOLDER:-folder}",
        env: {
          PROBE_PREFIX: "vars",
          A: "Bearer ${PROBE_TEST_SECRET}",
          B: "${PROBE_TEST_EMPTY:-full}|${PROBE_TEST_EMPTY}",
          C: "$${PROBE_TEST_SECRET}",
        },
      }),
      onCommand: (command) => shown.push(command),
    });
    const environment = jsonOf(await session.callTool("vars_env"));
    expect(environment).toMatchObject({ A: "Bearer hunter2", B: "full|", C: "${PROBE_TEST_SECRET}" });
    expect(shown).toMatchObject([{ args: [probeServer, "${PROBE_TEST_SECRET}"], cwd: join(cwd, "folder") }]);
    expect(JSON.stringify(shown)).not.toContain("hunter2");
  });

  test("an unset variable fails the start with its name and its place", async () => {
    const config = withVariables({ env: { SECRET: "hunter2", TOKEN: "${PROBE_TEST_UNSET}" } });
    const error = await openForTest(makeProject({}), { config }).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: "ServerStartFailed",
      problem: {
        path: ["mcpServers", "vars", "env", "TOKEN"],
        args: {
          label: "vars",
          variable: "PROBE_TEST_UNSET",
          reason: expect.stringContaining("PROBE_TEST_UNSET"),
        },
      },
    });
    expect(JSON.stringify(error.problem)).not.toContain("hunter2");
  });
});
