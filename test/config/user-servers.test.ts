import { describe, expect, test } from "vitest";
import { faultsOfYaml, readObject, readYaml } from "./configs.ts";

test("servers of the array come first, then those of mcpServers, each in the order of the file", async () => {
  const { subprocessServers } = await readYaml(`
mcpServers:
  zeta: { command: z }
  alpha: { command: a }
trailblazeSubprocessToolsets:
  - { name: second, command: s }
  - { name: first, command: f }
`);
  expect(subprocessServers.map(({ name }) => name)).toEqual(["second", "first", "zeta", "alpha"]);
});

describe("problems that leave a config usable", () => {
  test("a key that only clients use is a warning at its place, and one with x- is none", async () => {
    const { subprocessServers, problems } = await readYaml(
      "mcpServers:\n  files:\n    command: a\n    timeout: 5\n    x-note: 1\n    tools: ['*']\n",
    );
    expect(subprocessServers).toHaveLength(1);
    const place = { code: "InvalidConfig", severity: "warning", file: "trailblaze.config.yaml", column: 5 };
    expect(problems).toMatchObject([
      { ...place, path: ["mcpServers", "files", "timeout"], line: 4 },
      { ...place, path: ["mcpServers", "files", "tools"], line: 6 },
    ]);
  });

  test("a remote server is an error at its URL, and one that is disabled is none", async () => {
    const url = "https://example.com/mcp";
    const { subprocessServers, unusedServers, problems } = await readObject({
      mcpServers: { a: { url }, b: { url, disabled: true } },
      trailblazeSubprocessToolsets: [
        { name: "c", url },
        { name: "d", url, enabled: false },
      ],
    });
    expect(subprocessServers).toEqual([]);
    expect(unusedServers.map(({ name, reason }) => [name, reason])).toEqual([
      ["c", "remote"],
      ["d", "disabled"],
      ["a", "remote"],
      ["b", "disabled"],
    ]);
    expect(problems.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ["InvalidConfig", "error", ["trailblazeSubprocessToolsets", 0, "url"]],
      ["InvalidConfig", "error", ["mcpServers", "a", "url"]],
    ]);
  });
});

test("the array has no keys of clients, so an unknown key is an error", async () => {
  const problems = await faultsOfYaml("trailblazeSubprocessToolsets: [{ name: a, command: b, timeout: 5 }]");
  expect(problems).toMatchObject([
    { severity: "error", path: ["trailblazeSubprocessToolsets", 0, "timeout"] },
  ]);
});

test("a message about a URL does not contain it", async () => {
  const problems = await faultsOfYaml("mcpServers: { a: { url: 'https://me:hunter2@example.com' } }");
  expect(problems).toHaveLength(1);
  expect(JSON.stringify(problems)).not.toContain("hunter2");
});
