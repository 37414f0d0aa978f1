import { chmodSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { exitCodeOfFailure } from "../../src/cli/exit-code.ts";
import { TrailblazeError } from "../../src/problems/index.ts";
import type { Tree } from "../support/tree.ts";
import { makeProject, openForTest, probeServer } from "./support/session.ts";

const importProbe = `import ${JSON.stringify(probeServer)};\n`;

/** A package that is an MCP server and not a pack. */
const plainServer = (bin: unknown = "cli.mjs", files: Tree = {}): Tree => ({
  "node_modules/mcp-probe/package.json": { name: "mcp-probe", version: "1.0.0", type: "module", bin },
  "node_modules/mcp-probe/cli.mjs": importProbe,
  ...Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`node_modules/mcp-probe/${path}`, text]),
  ),
});

const entry = (fields: object = {}) => ({ name: "plain", package: "mcp-probe", ...fields });
const configOf = (fields: object = {}) => ({ trailblazeSubprocessToolsets: [entry(fields)] });

const startWith = async (files: Tree, fields: object = {}) => {
  const yaml = JSON.stringify({ logDir: "logs", ...configOf(fields) });
  const root = makeProject({}, { ...files, "trailblaze.config.yaml": yaml });
  try {
    await openForTest(root, { config: "trailblaze.config.yaml" });
  } catch (error) {
    if (error instanceof TrailblazeError) return error;
    throw error;
  }
  throw new Error("the session is open");
};

describe("a server of the config that runs a package", () => {
  test("a server that runs a package starts with its arguments and its environment", async () => {
    const root = makeProject({}, plainServer());
    const session = await openForTest(root, { config: configOf({ env: { PROBE_PREFIX: "plain" } }) });
    expect(session.tools.map(({ name }) => name)).toContain("plain_params");
    const environment = await session.callTool("plain_env");
    expect(JSON.parse(environment.message).TRAILBLAZE_TOOLSET_FILE).toBe(
      join(root, "node_modules/mcp-probe/cli.mjs"),
    );
  });

  test("a missing package is ServerPackageNotInstalled, with the command of the project's manager", async () => {
    const error = await startWith({ "pnpm-lock.yaml": "" });
    expect(error.problem).toMatchObject({
      code: "ServerPackageNotInstalled",
      args: { name: "mcp-probe", label: "plain", isDeclared: false, manager: "pnpm" },
      path: ["trailblazeSubprocessToolsets", 0, "package"],
      file: "trailblaze.config.yaml",
      line: 1,
    });
    expect(exitCodeOfFailure(error)).toBe(1);
  });

  test.each([
    ["does not exist", { "cli.mjs": undefined }, {}, "package"],
    ["is not the named one", {}, { bin: "other" }, "bin"],
  ])("a server that runs a package is InvalidConfig if its command %s", async (_, files, fields, key) => {
    const error = await startWith(plainServer("cli.mjs", files), fields);
    expect(error.problem).toMatchObject({
      code: "InvalidConfig",
      path: ["trailblazeSubprocessToolsets", 0, key],
    });
    expect(exitCodeOfFailure(error)).toBe(2);
  });
});

const files = plainServer({ "mcp-probe": "cli.mjs" });
const manifest = { name: "app", version: "1.0.0", dependencies: { "mcp-probe": "*" } };

test("a command in node_modules/.bin does not start a server, even if it is in the PATH", async () => {
  const script = `#!/bin/sh\nexec "${process.execPath}" "${probeServer}"\n`;
  const yaml = JSON.stringify({ trailblazeSubprocessToolsets: [{ name: "plain", command: "mcp-probe" }] });
  const root = makeProject(
    {},
    {
      ...files,
      "package.json": manifest,
      "node_modules/.bin/mcp-probe": script,
      "trailblaze.config.yaml": yaml,
    },
  );
  const bin = join(root, "node_modules/.bin");
  chmodSync(join(bin, "mcp-probe"), 0o755);
  vi.stubEnv("PATH", `${bin}${delimiter}${process.env.PATH}`);
  await expect(openForTest(root, { config: "trailblaze.config.yaml" })).rejects.toMatchObject({
    code: "ServerStartFailed",
    message: expect.stringContaining("node_modules/.bin is not searched: use `package`"),
  });
});

describe("a pack's server that runs a package", () => {
  const pack = (definition: object, dependencies: object = { "mcp-probe": "*" }): Tree => ({
    "package.json": { trailblaze: { servers: ["wrapped"] }, dependencies },
    "trailblaze/servers/wrapped.json": definition,
  });
  const wrapped = { package: "mcp-probe", env: { PROBE_PREFIX: "wrapped" } };

  test("a pack's server runs the copy in the pack's own node_modules", async () => {
    const files = {
      ...pack(wrapped),
      "node_modules/mcp-probe/package.json": { name: "mcp-probe", bin: "own.mjs", type: "module" },
      "node_modules/mcp-probe/own.mjs": importProbe,
    };
    const root = makeProject({ "@acme/wrap": files }, plainServer("none.mjs"));
    const session = await openForTest(root);
    expect(session.tools.map(({ name }) => name)).toContain("wrapped_params");
  });

  test("a pack's server is excluded with a problem if the package is missing", async () => {
    const session = await openForTest(makeProject({ "@acme/wrap": pack(wrapped) }));
    expect(session.tools).toEqual([]);
    expect(session.problems).toMatchObject([
      {
        code: "ServerPackageNotInstalled",
        severity: "error",
        pack: "@acme/wrap",
        item: "wrapped",
        path: ["package"],
      },
    ]);
  });
});
