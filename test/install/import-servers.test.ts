import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { planImport } from "../../src/install/import-servers.ts";
import { makeTree } from "../support/packs.ts";

const configFile = "trailblaze.config.yaml";
const open = (files: Readonly<Record<string, unknown>> = {}) => {
  const cwd = makeTree({ "package.json": { name: "app" }, ...files });
  vi.stubEnv("HOME", join(cwd, "home"));
  vi.stubEnv("XDG_STATE_HOME", join(cwd, "state"));
  return cwd;
};
const optionsOf = (cwd: string, more: object = {}) => ({
  cwd,
  only: [],
  replace: false,
  readInput: async () => new Uint8Array(),
  ...more,
});
const paste = (cwd: string, text: unknown, more: object = {}) =>
  planImport("-", {
    ...optionsOf(cwd, more),
    readInput: async () => Buffer.from(typeof text === "string" ? text : JSON.stringify(text)),
  });
const readConfig = (cwd: string) => {
  const file = join(cwd, configFile);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};
const server = { command: "node", args: ["a.js"] };

describe("an import", () => {
  test("an import adds the servers that the config does not have, and keeps its comments", async () => {
    const config = "# mine\nmcpServers:\n  a: { command: x }\n";
    const cwd = open({ [configFile]: config });
    const plan = await paste(cwd, {
      mcpServers: { a: server, b: server, "c/d": server, e: { url: "https://x.test/sse", transport: "sse" } },
    });
    expect(plan).toMatchObject({
      added: ["b", "c-d"],
      skipped: [
        { name: "a", reason: "exists" },
        { name: "e", reason: "invalid" },
      ],
      variables: [],
    });
    expect(readConfig(cwd)).toBe(config);
    await plan.edit.apply();
    expect(readConfig(cwd)).toBe(
      `${config}  b:\n    command: node\n    args:\n      - a.js\n  c-d:\n    command: node\n    args:\n      - a.js\n`,
    );
  });

  test("an import can replace a server in place and select servers by name", async () => {
    const cwd = open({ [configFile]: "mcpServers:\n  a: { command: x, tools: { deny: [b] } }\n" });
    const plan = await paste(cwd, { mcpServers: { a: server, b: server } }, { replace: true, only: ["a"] });
    expect(plan).toMatchObject({ added: ["a"], skipped: [{ name: "b", reason: "notSelected" }] });
    await plan.edit.apply();
    // The user's choice of tools stays.
    expect(parse(readConfig(cwd) ?? "")).toEqual({
      mcpServers: { a: { ...server, tools: { deny: ["b"] } } },
    });
  });

  test("an import from Claude Code has the servers for this project, and leaves those turned off that it has turned off", async () => {
    const cwd = open();
    const ofProject = { mcpServers: { b: server }, disabledMcpServers: ["a", "none"] };
    const projects = { [cwd]: ofProject, "/elsewhere": { mcpServers: { c: server } } };
    mkdirSync(join(cwd, "home"));
    writeFileSync(
      join(cwd, "home/.claude.json"),
      JSON.stringify({ mcpServers: { a: server, b: { command: "far" } }, projects }),
    );
    await (await planImport("claude-code", optionsOf(cwd))).edit.apply();
    const { mcpServers } = parse(readConfig(cwd) ?? "");
    expect(mcpServers).toEqual({ a: { ...server, enabled: false }, b: server });
  });

  test("an import turns values that are not harmless into references to variables, and lists these", async () => {
    const cwd = open();
    const plan = await paste(cwd, {
      mcpServers: {
        one: {
          command: "x",
          args: ["--verbose"],
          env: { MY_TOKEN: "word", GH: "ghp_0123456789abcdefghij", MODE: "a", PORT: 80, DIR: "/data" },
        },
        two: {
          url: "https://x.test/mcp?a=b",
          headers: { "X-Api-Key": "s3cret5", Accept: "Bearer s3cret6", "X-Custom": "s3cret8", Via: "proxy" },
        },
        three: { command: "y", env: { MY_TOKEN: "s3cret7" } },
      },
    });
    expect(plan.variables).toEqual(["MY_TOKEN", "GH", "X_API_KEY", "ACCEPT", "X_CUSTOM", "THREE_MY_TOKEN"]);
    expect(plan.notes).toEqual([]);
    await plan.edit.apply();
    expect(Object.values(parse(readConfig(cwd) ?? "").mcpServers)).toMatchObject([
      { env: { MY_TOKEN: "${MY_TOKEN}", GH: "${GH}", MODE: "a", PORT: "80", DIR: "/data" } },
      { url: "https://x.test/mcp?a=b", headers: { "X-Api-Key": "${X_API_KEY}", Via: "proxy" } },
      { env: { MY_TOKEN: "${THREE_MY_TOKEN}" } },
    ]);
    expect(readConfig(cwd)).not.toContain("s3cret");
    expect(plan.edit.diff).not.toContain("enabled:");
  });

  test.each([
    { command: "x", args: ["--token", "s3cret"] },
    { command: "x", args: ["sk-ant-api03-0123456789abcdefghij"] },
    { url: "https://me:s3cret@x.test/mcp" },
  ])("an import warns of a secret outside of env and headers and does not show it: %j", async (entry) => {
    const plan = await paste(open(), { mcpServers: { a: entry, b: server } });
    expect(plan).toMatchObject({ variables: [] });
    if (plan.added.includes("a")) expect(plan.notes).toEqual([expect.stringMatching(/"a".*secret/)]);
    expect(plan.edit.diff).not.toMatch(/s3cret|0123456789/);
  });

  test("an import gives different secrets different variables, even if their names are alike", async () => {
    const plan = await paste(open(), {
      mcpServers: {
        c: { url: "https://x.test/", headers: { "Api-Key": "s1", Api_Key: "s2", API_KEY: "s3" } },
        "a-b": { command: "x", env: { API_KEY: "s4" } },
        a_b: { command: "x", env: { API_KEY: "s5" } },
      },
    });
    expect(plan.variables).toEqual(["API_KEY", "C_API_KEY", "C_API_KEY_2", "A_B_API_KEY", "A_B_API_KEY_2"]);
  });

  test.each([
    { disabledTools: ["b"] },
    { excluded_tools: ["*"] },
    { tools: [] },
    { includeTools: ["a"] },
    { enabled_tools: [] },
    { enabled_tools: "a" },
    { tool_filter: ["a"] },
  ])("an import skips a server with a choice of tools: %j", async (choice) => {
    const plan = await paste(open(), { mcpServers: { a: { ...server, ...choice } } });
    const detail = expect.stringContaining(Object.keys(choice)[0] ?? "");
    expect(plan).toMatchObject({ added: [], skipped: [{ name: "a", reason: "invalid", detail }] });
  });

  test.each([
    ["${env:GH}", "${GH}"],
    ["{env:GH}", "${GH}"],
    ["${GH}", "${GH}"],
    ["${GH:-d}", "${GH:-d}"],
    ["${input:gh-x}", "${gh_x}"],
  ])("an import writes the reference %s as %s", async (written, expected) => {
    const plan = await paste(open(), { mcpServers: { a: { command: "x", env: { A: written } } } });
    expect(plan.edit.diff).toContain(`A: "${expected}"`);
    expect(plan.variables).toHaveLength(1);
  });

  test.each(["${env:FOO-BAR}", "${workspaceFolder}/x", "{file:~/.key}"])(
    "an import skips a server with the unsupported variable %s, and names it with its key",
    async (written) => {
      for (const entry of [
        { command: "x", args: [written] },
        { command: "x", env: { args: written } },
        { url: "https://x.test/", headers: { args: `Bearer ${written}` } },
      ]) {
        const plan = await paste(open(), { mcpServers: { a: entry } });
        const [variable = ""] = /.*\}/.exec(written) ?? [];
        const detail = expect.stringMatching(/args has the variable [^"]*\}$/);
        expect(plan).toMatchObject({
          added: [],
          skipped: [{ name: "a", reason: "unsupportedVariable", detail }],
        });
        expect(plan.skipped[0]?.detail).toContain(variable);
      }
    },
  );

  test.each([
    ["crush", "home/.config/crush/crush.json", "mcp", "$(cat key)", undefined],
    ["crush", "home/.config/crush/crush.json", "mcp", "$KEY", "${KEY}"],
    ["mcporter", "home/.mcporter/mcporter.json", "mcpServers", "$env:KEY", "${KEY}"],
    ["opencode", "home/.config/opencode/opencode.json", "mcp", "{file:./key}", undefined],
    ["cursor", "home/.cursor/mcp.json", "mcpServers", "{file:./key}", "{file:./key}"],
    ["cursor", "home/.cursor/mcp.json", "mcpServers", "$X", '- "$X"'],
  ])(
    "an import from %s reads its form of references: %s %s %s",
    async (client, file, container, text, expected) => {
      vi.stubEnv("XDG_CONFIG_HOME", undefined);
      const cwd = open({ [file]: { [container]: { a: { command: ["x"], args: [text] } } } });
      const plan = await planImport(client, optionsOf(cwd));
      if (expected === undefined) expect(plan.skipped[0]?.detail).toContain(text);
      else expect(plan.edit.diff).toContain(expected);
    },
  );

  test.each([
    { command: "npx", args: ["--no-install", "trailblaze", "start"] },
    { command: "/usr/bin/node", args: ["/x/node_modules/trailblaze/dist/cli/cli.cjs", "start", "a/b"] },
    { command: "node", args: ["-e", "require('trailblaze/cli')", "trailblaze", "start"] },
  ])("an import skips an entry that starts Trailblaze: %j", async (entry) => {
    const plan = await paste(open(), { mcpServers: { trailblaze: entry } });
    expect(plan.skipped).toEqual([{ name: "trailblaze", reason: "self" }]);
  });

  test.each([
    ["YAML", "mcpServers:\n  a: { command: node }\n"],
    ["TOML", '[mcp_servers.a]\ncommand = "node"\n'],
    ["JSON with comments", '{ // mine\n "servers": { "a": { "command": "node" } }, }'],
    ["an object of servers", { a: server }],
    ["a member without the braces around it", '"mcpServers": { "a": { "command": "node" } },\n'],
    ["a server without the braces around it", '"a": { "command": "node" }'],
    [
      "a newer container of OpenCode",
      { mcp: { timeout: {}, servers: { a: { command: ["node", "a.js"] } } } },
    ],
    ["a command with its arguments in an array", { mcp: { a: { command: ["node", "a.js"] } } }],
  ])("an import reads %s", async (_, text) => {
    const plan = await paste(open(), text);
    expect(plan.added).toEqual(["a"]);
    expect(plan.edit.diff).toContain("command: node");
  });

  test.each([
    ["./none.json", undefined, "ClientConfigNotFound"],
    ["cursor", undefined, "ClientConfigNotFound"],
    ["nope", undefined, "UnknownClient"],
    ["./broken.json", "{", "ClientConfigMalformed"],
    ["./yaml.json", "mcpServers: { a: { command: x } }", "ClientConfigMalformed"],
    ["./other.json", "{}", "ClientConfigMalformed"],
  ])("an import from %s with the content %j fails and writes nothing", async (source, text, code) => {
    const cwd = open(text === undefined ? {} : { [source]: text });
    await expect(planImport(source, optionsOf(cwd))).rejects.toMatchObject({ code });
    expect(readConfig(cwd)).toBeUndefined();
  });
});
