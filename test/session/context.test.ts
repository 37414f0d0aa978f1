import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { jsonOf, makeProject, openForTest, probeServer, withServers } from "./support/session.ts";

const source = readFileSync(probeServer, "utf8");
const program = { command: process.execPath, args: [probeServer] };
const probePackage = {
  "node_modules/mcp-probe/package.json": { name: "mcp-probe", version: "1.0.0", bin: "server.mjs" },
  "node_modules/mcp-probe/server.mjs": source,
};

/** A project whose only pack declares the server `own`. */
const packed = (definition: object) => ({
  project: makeProject(
    {
      desk: {
        "package.json": { dependencies: { "mcp-probe": "*" }, trailblaze: { servers: ["own"] } },
        "trailblaze/servers/own.json": definition,
        "server.mjs": source,
      },
    },
    probePackage,
  ),
  config: {},
});
const listed = (entry: object) => ({
  project: makeProject({}, probePackage),
  config: withServers({ name: "probe", ...entry }),
});
const pasted = (entry: object) => ({
  project: makeProject({}, probePackage),
  config: { mcpServers: { probe: entry } },
});

/** What one call and the environment of its server have of the session. */
async function readContext({ project, config }: ReturnType<typeof listed | typeof pasted | typeof packed>) {
  const session = await openForTest(project, {
    config: { memory: { city: "Paris" }, device: { platform: "WEB" }, ...config },
  });
  const { arguments: args, _meta } = jsonOf(await session.callTool("probe_params", { a: 1 }));
  const env = jsonOf(await session.callTool("probe_env", {}));
  const { trailblaze, progressToken: _, ...others } = _meta ?? {};
  return {
    keys: Object.keys(args),
    memory: trailblaze?.memory,
    baseUrl: trailblaze?.baseUrl !== undefined,
    others,
    env: ["DEVICE_PLATFORM", "BASE_URL", "PORT", "SESSION_TOKEN"].filter(
      (name) => env[`TRAILBLAZE_${name}`] !== undefined,
    ),
  };
}

const everything = {
  keys: ["a", "_trailblazeContext"],
  memory: { city: "Paris" },
  baseUrl: true,
  others: {},
  env: ["DEVICE_PLATFORM", "BASE_URL", "PORT", "SESSION_TOKEN"],
};
// The device is no secret: every process has it.
const nothing = { keys: ["a"], memory: undefined, baseUrl: false, others: {}, env: ["DEVICE_PLATFORM"] };
const withoutArgument = { ...everything, keys: ["a"] };

test.each([
  ["a command of the list", () => listed(program), everything],
  ["the same with `context: false`", () => listed({ ...program, context: false }), nothing],
  [
    "the same with `legacyContext: false`",
    () => listed({ ...program, legacyContext: false }),
    withoutArgument,
  ],
  ["a package of the list", () => listed({ package: "mcp-probe" }), nothing],
  ["an entry of `mcpServers`", () => pasted(program), nothing],
  ["the same with `context: true`", () => pasted({ ...program, context: true }), everything],
  ["a pack's script", () => packed({ script: "./server.mjs" }), everything],
  ["a pack's command", () => packed(program), everything],
  ["the same with `context: false`", () => packed({ ...program, context: false }), nothing],
  ["a pack's package", () => packed({ package: "mcp-probe" }), nothing],
  ["the same with `context: true`", () => packed({ package: "mcp-probe", context: true }), everything],
])("%s gets what was meant for it", async (_, make, context) => {
  expect(await readContext(make())).toEqual(context);
});
