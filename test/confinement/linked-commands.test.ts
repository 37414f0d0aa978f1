import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readLinkedCommands } from "../../src/npm/managers/linked-commands.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

/** As npm's cmd-shim writes them on Windows, and pnpm everywhere. */
const scripts = {
  sh: (path: string) => `#!/bin/sh
basedir=$(dirname "$(echo "$0" | sed -e 's,\\\\,/,g')")
if [ -x "$basedir/node" ]; then
  exec "$basedir/node"  "$basedir/${path}" "$@"
else
  exec node  "$basedir/${path}" "$@"
fi
`,
  cmd: (path: string) =>
    `@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\n` +
    `IF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n)\r\n\r\n` +
    `endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\\${path.replaceAll("/", "\\")}" %*\r\n`,
  pnpmCmd: (path: string) =>
    `@SETLOCAL\r\n@IF EXIST "%~dp0\\node.exe" (\r\n  "%~dp0\\node.exe"  "%~dp0\\${path.replaceAll("/", "\\")}" %*\r\n) ` +
    `ELSE (\r\n  node  "%~dp0\\${path.replaceAll("/", "\\")}" %*\r\n)\r\n`,
  ps1: (path: string) => `#!/usr/bin/env pwsh
$basedir=Split-Path $MyInvocation.MyCommand.Definition -Parent
if (Test-Path "$basedir/node$exe") {
  & "$basedir/node$exe"  "$basedir/${path}" $args
} else {
  & "node$exe"  "$basedir/${path}" $args
}
`,
};

const packages = {
  "node_modules/trailblaze/package.json": { name: "trailblaze", version: "1.0.0" },
  "node_modules/trailblaze/cli.cjs": "",
  "node_modules/trailblaze/node_modules/taker/x.js": "",
  "node_modules/taker/package.json": { name: "trailblaze", version: "1.0.0" },
  "node_modules/taker/node_modules/trailblaze/package.json": { name: "trailblaze", version: "1.0.0" },
  "node_modules/taker/node_modules/trailblaze/x.js": "",
};

const genuine = "../trailblaze/cli.cjs";
const taken = [
  "../taker/x.js",
  "../taker/node_modules/trailblaze/x.js",
  "../trailblaze/node_modules/taker/x.js",
  "../trailblaze-other/x.js",
  "../../elsewhere.js",
];

function read(tree: Tree, links: Record<string, string> = {}) {
  const folder = makeTree({ ...packages, "node_modules/.bin/.keep": "", ...tree });
  const bin = join(folder, "node_modules/.bin");
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(bin, name));
  return readLinkedCommands(bin).map(({ command, isOwned }) => `${command} ${isOwned ? "own" : "taken"}`);
}

test("a link to the package itself is its own command, even among others", () => {
  expect(read({}, { trailblaze: genuine, jest: "../taker/x.js" })).toEqual(["trailblaze own"]);
});

test.each(taken)("a link to %s is another package's command", (target) => {
  expect(read({}, { trailblaze: target })).toEqual(["trailblaze taken"]);
});

test.each([
  ["trailblaze", "sh"],
  ["trailblaze.cmd", "cmd"],
  ["trailblaze.cmd", "pnpmCmd"],
  ["trailblaze.CMD", "cmd"],
  ["trailblaze.ps1", "ps1"],
] as const)("%s is read as a script (%s)", (name, kind) => {
  const file = `node_modules/.bin/${name}`;
  expect(read({ [file]: scripts[kind](genuine) })).toEqual(["trailblaze own"]);
  for (const target of taken)
    expect(read({ [file]: scripts[kind](target) }), target).toEqual(["trailblaze taken"]);
});

test("a script that starts two packages, or a program in the folder itself, is another package's command", () => {
  const both = scripts.sh(genuine).replace(genuine, "../taker/x.js");
  expect(read({ "node_modules/.bin/trailblaze": both })).toEqual(["trailblaze taken"]);
  expect(read({ "node_modules/.bin/trailblaze": "#!/usr/bin/env node\n" })).toEqual(["trailblaze taken"]);
  expect(read({}, { trailblaze: "../nowhere" })).toEqual(["trailblaze taken"]);
});

test("an alias recorded by npm or Yarn for another package is not the package's command", () => {
  const lock = { packages: { "node_modules/trailblaze": { name: "@evil/fake", version: "1.0.0" } } };
  const links = { trailblaze: genuine };
  expect(read({ "node_modules/.package-lock.json": lock }, links)).toEqual(["trailblaze taken"]);
  const entries = (key: string) => `# yarn lockfile v1\n\n${key}:\n  version "1.0.0"\n`;
  expect(read({ "yarn.lock": entries('"trailblaze@npm:@evil/fake@1.0.0"') }, links)).toEqual([
    "trailblaze taken",
  ]);
  for (const key of ['"trailblaze@npm:^1.0.0"', "trailblaze@^1.0.0", '"trailblaze@npm:trailblaze@^1.0.0"'])
    expect(read({ "yarn.lock": entries(key) }, links), key).toEqual(["trailblaze own"]);
});

test("node, sh and package managers may be claimed only by their own packages", () => {
  const node = {
    "node_modules/node/package.json": { name: "node", version: "22.0.0" },
    "node_modules/node/bin/node": "",
  };
  expect(read(node, { node: "../node/bin/node" })).toEqual(["node own"]);
  expect(read(node, { node: "../taker/x.js", sh: "../node/bin/node" })).toEqual(["node taken", "sh taken"]);
});

test("a folder that does not exist has no commands", () => {
  expect(readLinkedCommands(join(makeTree({}), "node_modules/.bin"))).toEqual([]);
});
