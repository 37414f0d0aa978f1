import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
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
    const plan = await paste(cwd, { mcpServers: { a: server, b: server, "c/d": server, e: { type: "x" } } });
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
      `${config}trailblazeSubprocessToolsets:\n  - name: b\n    command: node\n    args:\n      - a.js\n  - name: c-d\n    command: node\n    args:\n      - a.js\n`,
    );
  });

  test("an import can replace a server in place and select servers by name", async () => {
    const cwd = open({ [configFile]: "mcpServers:\n  a: { command: x }\n" });
    const plan = await paste(cwd, { mcpServers: { a: server, b: server } }, { replace: true, only: ["a"] });
    expect(plan).toMatchObject({ added: ["a"], skipped: [{ name: "b", reason: "notSelected" }] });
    await plan.edit.apply();
    expect(readConfig(cwd)).toBe("mcpServers:\n  a:\n    command: node\n    args:\n      - a.js\n");
  });

  test("an import keeps the prefix and the choice of tools of a server that it replaces", async () => {
    const choices = { prefix: "mine", tools: { deny: ["delete_*"] } };
    const cwd = open({ [configFile]: stringify({ mcpServers: { a: { command: "x", ...choices } } }) });
    const plan = await paste(cwd, { mcpServers: { a: server } }, { replace: true });
    await plan.edit.apply();
    expect(parse(readConfig(cwd) ?? "")).toEqual({ mcpServers: { a: { ...server, ...choices } } });
  });

  test("an import turns secrets into references to variables, lists these and never shows a secret", async () => {
    const cwd = open();
    const plan = await paste(cwd, {
      mcpServers: {
        one: {
          command: "x",
          args: ["--api-key=s3cret1", "--token", "s3cret2", "--verbose"],
          env: { MY_TOKEN: "s3cret3", MODE: "a" },
        },
        two: {
          url: "https://x.test/mcp?apiKey=s3cret4&a=b",
          headers: { "X-Api-Key": "s3cret5", Accept: "Bearer s3cret6" },
        },
        three: { command: "y", env: { MY_TOKEN: "s3cret7" } },
      },
    });
    expect(plan.variables).toEqual([
      "API_KEY",
      "TOKEN",
      "MY_TOKEN",
      "APIKEY",
      "X_API_KEY",
      "ACCEPT",
      "THREE_MY_TOKEN",
    ]);
    expect(plan.edit.diff).not.toContain("s3cret");
    expect(plan.edit.diff).toContain("https://x.test/mcp?apiKey=${APIKEY}&a=b");
    expect(plan.edit.diff).not.toContain("enabled:");
  });

  test.each([
    [["--header=Authorization: Bearer s3cret"]],
    [["--header", "Authorization: Bearer s3cret"]],
    [["run", "-e", "API_KEY=s3cret"]],
    [["run", "-eAPI_KEY=s3cret"]],
    [["run", "--env=API_KEY=s3cret"]],
    [["--url=https://h.test/?api_key=s3cret"]],
    [["--password", "-s3cret"]],
    [["--x", "bearer s3cret"]],
  ])("an import hides the secret in the arguments %j", async (args: readonly string[]) => {
    const plan = await paste(open(), { mcpServers: { a: { command: "x", args } } });
    expect(plan.edit.diff).not.toContain("s3cret");
    expect(plan.variables).toHaveLength(1);
    expect(plan.variables[0]).not.toBe("EAPI_KEY");
  });

  test("an import does not treat the argument after --no-auth, or an option after --auth, as a secret", async () => {
    const args = ["--no-auth", "/data", "--auth", "--verbose"];
    const plan = await paste(open(), { mcpServers: { a: { command: "x", args } } });
    expect(plan.variables).toEqual([]);
  });

  test("an import gives different secrets different variables, even if their names are alike", async () => {
    const args = ["--api-key", "s1", "--api-key", "s2", "--api-key", "s3"];
    const plan = await paste(open(), {
      mcpServers: {
        c: { command: "x", args },
        "a-b": { command: "x", env: { API_KEY: "s4" } },
        a_b: { command: "x", env: { API_KEY: "s5" } },
      },
    });
    expect(plan.variables).toEqual(["API_KEY", "C_API_KEY", "C_API_KEY_2", "A_B_API_KEY", "A_B_API_KEY_2"]);
  });

  test("an import of a name that the source does not have fails with similar names", async () => {
    const cwd = open();
    const only = ["githb"];
    await expect(paste(cwd, { mcpServers: { github: server } }, { only })).rejects.toMatchObject({
      code: "ServerNotFound",
      problem: { args: { name: "githb", nearest: ["github"] } },
    });
    await expect(paste(cwd, { mcpServers: { a: server } }, { only: ["a", "b"] })).rejects.toMatchObject({
      problem: { args: { name: "b", nearest: ["a"] } },
    });
    expect(readConfig(cwd)).toBeUndefined();
  });

  test("an import names the keys of a server that it cannot translate", async () => {
    const entries = { a: { ...server, envFile: ".env" }, b: server };
    const plan = await paste(open(), { mcpServers: entries });
    expect(plan).toMatchObject({ added: ["a", "b"], notes: [expect.stringContaining('"envFile"')] });
  });

  test("the diff of an import hides the secrets of the servers next to those that it adds", async () => {
    const config = "mcpServers:\n  a: { command: x, env: { MODE: s3cret } }\n";
    const cwd = open({ [configFile]: config });
    const plan = await paste(cwd, { mcpServers: { b: { ...server, env: { MODE: "s3cret" } } } });
    expect(plan.edit.diff).toContain(" a: {");
    expect(plan.edit.diff).not.toContain("s3cret");
    await plan.edit.apply();
    expect(readConfig(cwd)?.split("s3cret")).toHaveLength(3);
  });

  test("an import keeps an escaped reference escaped", async () => {
    const plan = await paste(open(), { mcpServers: { a: { command: "x", args: ["$${X}"] } } });
    expect(plan).toMatchObject({ added: ["a"], variables: [] });
    expect(plan.edit.diff).toContain("$${X}");
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

  test.each(["${workspaceFolder}/x", "${userHome}", "${a%b}"])(
    "an import skips a server with the unsupported variable %s",
    async (written) => {
      const plan = await paste(open(), { mcpServers: { a: { command: "x", args: [written] } } });
      expect(plan).toMatchObject({ added: [], skipped: [{ name: "a", reason: "unsupportedVariable" }] });
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
    ["a command with its arguments in an array", { mcp: { a: { command: ["node", "a.js"] } } }],
  ])("an import reads %s", async (_, text) => {
    const plan = await paste(open(), text);
    expect(plan.added).toEqual(["a"]);
    expect(plan.edit.diff).toContain("command: node");
  });

  test("an import treats only the client's own syntax for references as references", async () => {
    const entry = { command: "x", env: { A: "${env:GH}", B: "$X" } };
    const cwd = open({ "home/.cursor/mcp.json": { mcpServers: { a: entry } } });
    const plan = await planImport("cursor", optionsOf(cwd));
    expect(plan).toMatchObject({ added: ["a"], variables: ["GH"] });
    expect(plan.edit.diff).toContain('B: "$X"');
  });

  test.each([
    ["./none.json", undefined, "ClientConfigNotFound"],
    ["cursor", undefined, "ClientConfigNotFound"],
    ["nope", undefined, "UnknownClient"],
    ["./broken.json", "{", "ClientConfigMalformed"],
    ["./empty.json", "", "ClientConfigMalformed"],
    ["./other.json", "{}", "ClientConfigMalformed"],
  ])("an import from %s with the content %j fails and writes nothing", async (source, text, code) => {
    const cwd = open(text === undefined ? {} : { [source]: text });
    await expect(planImport(source, optionsOf(cwd))).rejects.toMatchObject({ code });
    expect(readConfig(cwd)).toBeUndefined();
  });
});
