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

  test("a key that has no effect on the kind of a server is a warning at its place", async () => {
    const { subprocessServers, problems } = await readObject({
      mcpServers: { remote: { url: "https://example.com/mcp", args: [], env: {}, headers: {}, bin: "a" } },
      trailblazeSubprocessToolsets: [
        { name: "local", command: "a", args: [], headers: {}, bin: "a" },
        { name: "far", url: "https://example.com/mcp", cwd: ".", legacyContext: false, args: null },
        { name: "installed", package: "a", bin: "a", headers: {} },
      ],
    });
    expect(subprocessServers).toHaveLength(4);
    expect(problems.map(({ severity, path }) => [severity, path?.join(".")])).toEqual(
      ["0.bin", "0.headers", "1.cwd", "1.legacyContext", "2.headers"]
        .map((key) => ["warning", `trailblazeSubprocessToolsets.${key}`])
        .concat(["args", "bin", "env"].map((key) => ["warning", `mcpServers.remote.${key}`])),
    );
  });
});

test("a remote server has its URL and its headers, and one that is disabled is not used", async () => {
  const url = "https://example.com/mcp";
  const headers = { Authorization: "Bearer ${TOKEN}" };
  const { subprocessServers, labels, problems } = await readObject({
    mcpServers: { a: { url, headers, type: "http" }, b: { url, disabled: true } },
    trailblazeSubprocessToolsets: [
      { name: "c", url },
      { name: "d", url, enabled: false },
    ],
  });
  expect(problems).toEqual([]);
  expect(subprocessServers.map((server) => [server.name, server.url, server.headers])).toEqual([
    ["c", url, {}],
    ["a", url, headers],
  ]);
  expect(labels).toEqual(["c", "d", "a", "b"]);
});

test("the array has no keys of clients, so an unknown key is an error", async () => {
  const problems = await faultsOfYaml("trailblazeSubprocessToolsets: [{ name: a, command: b, timeout: 5 }]");
  expect(problems).toMatchObject([
    { severity: "error", path: ["trailblazeSubprocessToolsets", 0, "timeout"] },
  ]);
});
