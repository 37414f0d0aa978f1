import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findManager, type ManagerFolder, readManagerTraces } from "../../src/discovery/project-manager.ts";
import { createNodeDiscoveryPort } from "../../src/files/node-discovery-port.ts";
import {
  createManagerEnvironment,
  findManagerProgram,
  managerArguments,
} from "../../src/npm/managers/package-manager.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

const folderOf = (tree: Tree, manifest: Record<string, unknown> = {}): ManagerFolder => ({
  manifest,
  traces: readManagerTraces(createNodeDiscoveryPort(), makeTree(tree)),
});
const find = (...folders: ManagerFolder[]) => findManager(folders);
const npm = { name: "npm", isModernYarn: false };

describe("the package manager of a project", () => {
  test.each<[string, Tree, Record<string, unknown>, unknown]>([
    ["a folder without a lockfile", {}, {}, npm],
    ["package-lock.json", { "package-lock.json": {} }, {}, npm],
    ["npm-shrinkwrap.json", { "npm-shrinkwrap.json": {} }, {}, npm],
    ["pnpm-lock.yaml", { "pnpm-lock.yaml": {} }, {}, { name: "pnpm", isModernYarn: false }],
    ["pnpm-workspace.yaml", { "pnpm-workspace.yaml": {} }, {}, { name: "pnpm", isModernYarn: false }],
    ["yarn.lock", { "yarn.lock": "# yarn lockfile v1\n" }, {}, { name: "yarn", isModernYarn: false }],
    [
      "a yarn.lock of modern Yarn",
      { "yarn.lock": "# x\n\n__metadata:\n" },
      {},
      { name: "yarn", isModernYarn: true },
    ],
    [
      "the packageManager key",
      { "yarn.lock": "" },
      { packageManager: "pnpm@9.1.0+sha512.abc" },
      { name: "pnpm", isModernYarn: false },
    ],
    [
      "the packageManager key for Yarn 4",
      {},
      { packageManager: "yarn@4.5.0" },
      { name: "yarn", isModernYarn: true },
    ],
    [
      "the devEngines key",
      {},
      { devEngines: { packageManager: [{ name: "pnpm" }] } },
      { name: "pnpm", isModernYarn: false },
    ],
    ["bun.lock", { "bun.lock": "" }, {}, { unsupported: "bun" }],
    ["a packageManager key with an unknown name", {}, { packageManager: "deno@2" }, { unsupported: "deno" }],
    ["keys with invalid values", {}, { packageManager: 7, devEngines: "x" }, npm],
    [
      "the lockfile in use if there are two",
      { "package-lock.json": {}, "yarn.lock": "", "node_modules/.yarn-integrity": "" },
      {},
      { name: "yarn", isModernYarn: false },
    ],
  ])("the package manager of a project is detected from %s", (_what, tree, manifest, expected) => {
    expect(find(folderOf(tree, manifest))).toEqual(expected);
  });

  test("a workspace member uses the package manager of the root unless it has a lockfile of its own", () => {
    const root = folderOf({ "pnpm-lock.yaml": {} });
    expect(find(folderOf({}), root)).toMatchObject({ name: "pnpm" });
    expect(find(folderOf({ "yarn.lock": "" }), root)).toMatchObject({ name: "yarn" });
  });
});

test.each(["npm", "pnpm", "yarn"] as const)("%s is started with lifecycle scripts turned off", (name) => {
  for (const kind of ["add", "remove", "install"] as const) {
    const task = { kind, packages: ["x"], isWorkspaceRoot: true };
    const args = managerArguments({ name, isModernYarn: false }, task);
    expect(args.join(" ")).toMatch(/ignore-scripts/);
  }
  expect(createManagerEnvironment({ npm_config_ignore_scripts: "false" })).toMatchObject({
    npm_config_ignore_scripts: "true",
    YARN_ENABLE_SCRIPTS: "false",
  });
});

test("environment variables that npm set for another project, and secrets, are not passed to the package manager", () => {
  const env = createManagerEnvironment({
    PATH: "/bin",
    npm_config_registry: "kept",
    npm_config_local_prefix: "/other",
    npm_config_global: "true",
    npm_lifecycle_event: "x",
    npm_package_name: "x",
    TRAILBLAZE_HTTP_TOKEN: "x",
    TRAILBLAZE_STATE_KEY: "x",
  });
  expect(Object.keys(env)).toEqual(expect.arrayContaining(["PATH", "npm_config_registry"]));
  const dropped = /lifecycle|local_prefix|global|npm_package|TRAILBLAZE/;
  expect(Object.keys(env).filter((name) => dropped.test(name))).toEqual([]);
});

test("a package manager is found on the PATH, and npm also next to Node", () => {
  const folder = makeTree({
    "bin/pnpm": "#!/bin/sh\n",
    "bin/yarn.js": "",
    "empty/x": "",
    "node/lib/node_modules/npm/bin/npm-cli.js": "",
  });
  const env = { PATH: `${folder}/empty:${folder}/bin` };
  expect(findManagerProgram("pnpm", env, "linux")).toEqual({ command: `${folder}/bin/pnpm`, args: [] });
  expect(findManagerProgram("yarn", env, "linux")).toBeUndefined();
  const beside = findManagerProgram("npm", { PATH: "" }, "linux", `${folder}/node/bin/node`);
  expect(beside?.args).toEqual([`${folder}/node/lib/node_modules/npm/bin/npm-cli.js`]);
  expect(findManagerProgram("npm", { PATH: "" }, "linux", `${folder}/bin/node`)).toBeUndefined();
});

test("a package manager installed in the project is used, but not another package's command with its name", () => {
  const folder = makeTree({
    "app/node_modules/pnpm/package.json": { name: "pnpm", version: "9.0.0" },
    "app/node_modules/pnpm/pnpm.cjs": "",
    "app/node_modules/taker/package.json": { name: "taker", version: "1.0.0" },
    "app/node_modules/taker/npm.cjs": "",
    "app/node_modules/.bin/.keep": "",
    "bin/npm": "#!/bin/sh\n",
  });
  const bin = join(folder, "app/node_modules/.bin");
  symlinkSync("../pnpm/pnpm.cjs", join(bin, "pnpm"));
  symlinkSync("../taker/npm.cjs", join(bin, "npm"));
  const env = { PATH: `${bin}:${folder}/bin` };
  expect(findManagerProgram("pnpm", env, "linux")?.args).toEqual([
    `${folder}/app/node_modules/pnpm/pnpm.cjs`,
  ]);
  expect(findManagerProgram("npm", env, "linux")).toEqual({ command: `${folder}/bin/npm`, args: [] });
});
