import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionConfig } from "../../src/config/session-config.ts";
import { createNodeInspectionPort } from "../../src/files/node-inspection-port.ts";
import { planUserServer } from "../../src/runtime/server-launches.ts";

const cwd = resolve("project");
const port = createNodeInspectionPort();
const config = {
  file: join(cwd, "trailblaze.config.yaml"),
  directory: cwd,
  project: process.cwd(),
} as SessionConfig;
const fileOf = async (command: string, ...args: string[]) => {
  const choices = { prefix: undefined, allow: undefined, deny: [], toolset: undefined };
  const none = {
    choices,
    package: undefined,
    bin: undefined,
    env: {},
    url: undefined,
    headers: {},
    protocol: "auto" as const,
    context: undefined,
    isListed: true,
    legacyContext: true,
    start: undefined,
    idleMs: undefined,
    path: [],
  };
  const server = { name: "mine", command, args, cwd: ".", ...none };
  return (await planUserServer(port, server, config)).toolsetFile;
};
const script = join(cwd, "server.js");

describe("the file that a user's server is said to come from", () => {
  test.each([[["server.js", "other.js"]], [["--require", "./hook.cjs", "--import", "tsx", "server.js"]]])(
    "the script of `node %j` is the server's file",
    async (args) => {
      expect(await fileOf("node", ...args)).toBe(script);
      expect(await fileOf("/usr/bin/node", ...args)).toBe(script);
    },
  );

  test.each([[["-e", "run()", "server.js"]], [["--import", "tsx"]]])(
    "the config is the server's file for `node %j`, which has no script",
    async (args) => {
      expect(await fileOf("node", ...args)).toBe(config.file);
    },
  );

  test("a command that is a path is the server's file, and for a command found in PATH it is the config", async () => {
    expect(await fileOf("./server.js")).toBe(script);
    expect(await fileOf("./server.js", "--config", "conf.ts")).toBe(script);
    expect(await fileOf("my-server", "notes")).toBe(config.file);
  });

  test.each([
    ["sh", "-c", "exec ./server.sh"],
    ["python3", "-m", "server", "x.py"],
    ["env", "mine", "https://example.com/server.js"],
  ])("the config is the server's file without a script: %s %s %s", async (command, ...args) => {
    expect(await fileOf(command, ...args)).toBe(config.file);
  });

  test.each([
    [".venv/bin/python", "-E", "./my files/server.py"],
    ["npx", "tsx", "--tsconfig=x.json", "server.ts"],
  ])("the script of another interpreter is the server's file: %s %s", async (command, ...args) => {
    expect(await fileOf(command, ...args)).toBe(join(cwd, args.at(-1) ?? ""));
  });
});
