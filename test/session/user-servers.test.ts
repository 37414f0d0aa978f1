import { describe, expect, test } from "vitest";
import { makeProject, openForTest, probe } from "./support/session.ts";

const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
/** The entry of a probe without its name, as `mcpServers` has it. */
const pasted = (name: string, changes: object = {}) => {
  const { name: _, ...entry } = probe(name);
  return { ...entry, ...changes };
};

describe("a session of a config with mcpServers", () => {
  test("has the tools of enabled servers, and reports those that are remote", async () => {
    const session = await openForTest(makeProject({}), {
      config: {
        trailblazeSubprocessToolsets: [probe("listed"), { ...probe("off"), enabled: false }],
        mcpServers: {
          "my files": pasted("pasted"),
          gone: pasted("gone", { disabled: true }),
          far: { url: "https://example.com/mcp" },
        },
      },
    });
    const servers = [...new Set(session.tools.map(({ source }) => source.server))];
    expect(servers).toEqual(["listed", "my files"]);
    expect(namesOf(session.skipped)).toEqual(["far"]);
    expect(session.problems).toMatchObject([{ code: "InvalidConfig", path: ["mcpServers", "far", "url"] }]);
  });
});
