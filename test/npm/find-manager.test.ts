import { describe, expect, test } from "vitest";
import { findProjectManager } from "../../src/discovery/project-manager.ts";
import { discoveryPort } from "../../src/files/node-discovery-port.ts";
import {
  createManagerEnvironment,
  findManagerProgram,
  managerArguments,
} from "../../src/npm/managers/package-manager.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

/** The package manager of a project, or of a member of a workspace with these files. */
const find = (project: string, root = project) =>
  findProjectManager(discoveryPort, {
    project: { directory: project, manifest: undefined },
    root,
  });
const npm = { name: "npm", isModernYarn: false };
const pnpm = { name: "pnpm", isModernYarn: false };
const yarn = { name: "yarn", isModernYarn: false };
const modern = { name: "yarn", isModernYarn: true };

describe("the package manager of a project", () => {
  test.each<[string, unknown, Tree, Record<string, unknown>?]>([
    ["a folder without a lockfile", npm, {}],
    ["package-lock.json", npm, { "package-lock.json": {} }],
    ["pnpm-lock.yaml", pnpm, { "pnpm-lock.yaml": {} }],
    ["yarn.lock", yarn, { "yarn.lock": "# yarn lockfile v1\n" }],
    ["a yarn.lock of modern Yarn", modern, { "yarn.lock": "# x\n\n__metadata:\n" }],
    ["the packageManager key", pnpm, { "yarn.lock": "" }, { packageManager: "pnpm@9.1.0+sha512.abc" }],
    ["the packageManager key for Yarn 4", modern, {}, { packageManager: "yarn@4.5.0" }],
    ["bun.lock", { name: "bun", isModernYarn: false }, { "bun.lock": "" }],
    [
      "a packageManager key with an unknown name",
      { name: "deno", isModernYarn: false },
      {},
      { packageManager: "deno@2" },
    ],
    [
      "the lockfile in use if there are two",
      yarn,
      { "package-lock.json": {}, "yarn.lock": "", "node_modules/.yarn-integrity": "" },
    ],
  ])("the package manager of a project is detected from %s", (_what, expected, tree, manifest = {}) => {
    expect(find(makeTree({ "package.json": manifest, ...tree }))).toEqual(expected);
  });

  test("a workspace member uses the package manager of the root unless it has a lockfile of its own", () => {
    const root = makeTree({ "pnpm-lock.yaml": {} });
    expect(find(makeTree({}), root)).toEqual(pnpm);
    expect(find(makeTree({ "yarn.lock": "" }), root)).toEqual(yarn);
  });
});

test.each(["npm", "pnpm", "yarn"] as const)("%s is started with lifecycle scripts turned off", (name) => {
  for (const kind of ["add", "remove", "install"] as const) {
    const task = { kind, packages: ["x"], isWorkspaceRoot: true };
    const args = managerArguments({ name, isModernYarn: false }, task);
    expect(args.join(" ")).toMatch(/ignore-scripts/);
    const modernArgs = managerArguments({ name: "yarn", isModernYarn: true }, task);
    expect(modernArgs).toEqual([kind, ...(kind === "remove" ? [] : ["--mode=skip-build"]), "x"]);
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

test("a package manager is found on the PATH, and npm also beside Node", () => {
  const script = "node/lib/node_modules/npm/bin/npm-cli.js";
  const folder = makeTree({ "bin/pnpm": "#!/bin/sh\n", "bin/yarn.js": "", "empty/x": "", [script]: "" });
  const env = { PATH: `${folder}/empty:${folder}/bin` };
  expect(findManagerProgram("pnpm", env)).toMatchObject({ command: `${folder}/bin/pnpm`, args: [] });
  expect(findManagerProgram("yarn", env)).toBeUndefined();
  const [without, node] = [{ PATH: "" }, `${folder}/node/bin/node`];
  expect(findManagerProgram("npm", without, node)?.args).toEqual([`${folder}/${script}`]);
  expect(findManagerProgram("pnpm", without, node)).toBeUndefined();
  expect(findManagerProgram("npm", without, `${folder}/bin/node`)).toBeUndefined();
});

test("a command of a package with the name of a package manager is not run", () => {
  const folder = makeTree({ "app/node_modules/.bin/npm": "", "bin/npm": "" });
  const env = { PATH: `${folder}/app/node_modules/.bin:${folder}/bin` };
  expect(findManagerProgram("npm", env)).toMatchObject({ command: `${folder}/bin/npm`, args: [] });
});
