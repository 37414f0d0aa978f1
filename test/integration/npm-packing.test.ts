// What npm itself would pack, told by its dry run, against what validation says of it without npm.
import { expect, test } from "vitest";
import { findPacked } from "../../src/validate/packing.ts";
import { runPackageManager } from "../support/package-managers.ts";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

const files = [
  "index.js",
  "lib/a.js",
  "lib/a.test.js",
  "lib/deep/b.js",
  "server/main.js",
  "setup.js",
  "trailblaze/tools.yaml",
  "trailblaze/tools/greet.json",
];

/** Nothing is fetched, so that there need not be anything. */
const registry = "http://127.0.0.1:9/";

test.each<[string, Record<string, unknown>, Tree]>([
  ["no list", {}, {}],
  ["folders and files", { files: ["trailblaze", "lib/", "./setup.js"] }, {}],
  ["patterns", { files: ["**/*.{js,json}", "!**/*.test.js"] }, {}],
  ["an exception", { files: ["*", "!lib/deep"] }, {}],
  ["an empty list", { files: [] }, {}],
  ["main and bin", { files: ["trailblaze"], main: "index.js", bin: { x: "./server/main.js" } }, {}],
  ["main with ./", { files: ["trailblaze"], main: "./index.js" }, {}],
  ["a folder of programs", { files: ["trailblaze"], directories: { bin: "./server" } }, {}],
  [".npmignore", {}, { ".npmignore": "lib/*\n!lib/a.js\n*.yaml\n" }],
  [".gitignore", {}, { ".gitignore": "/setup.js\ndeep\n" }],
  ["both", {}, { ".gitignore": "lib\n", ".npmignore": "server\n" }],
  ["an ignore file inside", { files: ["lib", "trailblaze"] }, { "lib/.npmignore": "*.test.js\ndeep\n" }],
])("findPacked and npm pack select the same files: %s", async (_what, fields, more) => {
  const manifest = { name: "packed", version: "1.0.0", ...fields };
  const tree = Object.fromEntries(files.map((file) => [file, "x\n"]));
  const folder = makeTree({ ...tree, ...more, "package.json": manifest });
  const home = makeTree({});
  const answer = await runPackageManager("npm", ["pack", "--dry-run", "--json"], {
    cwd: folder,
    registry,
    home,
  });
  const [{ files: packed }] = JSON.parse(answer) as [{ files: { path: string }[] }];
  const expected = files.filter((file) => packed.some(({ path }) => path === file));
  const found = await findPacked({ packageRoot: folder, manifest, files });
  expect(files.filter((file) => found?.has(file))).toEqual(expected);
});
