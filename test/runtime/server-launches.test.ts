import { join, resolve } from "node:path";
import { expect, test } from "vitest";
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

test("a user's server is said to come from its script, or else from the config", async () => {
  expect(await fileOf("node", "--require", "./hook.cjs", "--import", "tsx", "server.js", "a.js")).toBe(
    script,
  );
  expect(await fileOf("./server.js", "--config", "conf.ts")).toBe(script);
  expect(await fileOf("npx", "tsx", "--tsconfig=x.json", "server.js")).toBe(script);
  for (const [command = "", ...args] of [
    ["node", "-e", "run()", "server.js"],
    ["my-server", "notes"],
    ["sh", "-c", "exec ./server.sh"],
  ])
    expect(await fileOf(command, ...args)).toBe(config.file);
});
