// Imports of files of the package that Node cannot load or link, and similar ones that it can.
import { expect, test } from "vitest";
import type { Tree } from "../support/tree.ts";
import { greetTool, validateTree } from "./validate-tree.ts";

const exported = "export const greet = () => 'Hello';\n";

interface Modules {
  greet: string;
  files?: Tree;
}

const findProblems = ({ greet, files = {} }: Modules) =>
  validateTree({
    extension: { tools: ["greet"] },
    files: {
      "trailblaze/tools/greet.json": greetTool("./lib/greet.js#greet"),
      "lib/greet.js": greet,
      ...files,
    },
  });

const json = "lib/words.json";
const words = { "lib/words.json": {} };
const other = { "lib/other.js": "export const one = 1;\nexport default 2;\n" };

test.each<[string, Modules, string, string]>([
  [
    "a name that a module does not export",
    { greet: `import { two } from "./other.js";\n${exported}`, files: other },
    'imports "two" from "lib/other.js", which does not export it',
    "Export it there, or import one of: one, default.",
  ],
  [
    "a renamed name that a module does not export",
    { greet: `import first, { one, two as three } from "./other.js";\n${exported}`, files: other },
    'imports "two" from "lib/other.js", which does not export it',
    "Export it there, or import one of: one, default.",
  ],
  [
    "a name over several lines",
    { greet: `import {\n  one, // The first.\n  two,\n} from "./other.js";\n${exported}`, files: other },
    'imports "two" from "lib/other.js", which does not export it',
    "Export it there, or import one of: one, default.",
  ],
  [
    "a default export that does not exist",
    { greet: `import other from "./other.js";\n${exported}`, files: { "lib/other.js": exported } },
    'imports "default" from "lib/other.js", which does not export it',
    "Export it there, or import one of: greet.",
  ],
  [
    "a name of a module without exports",
    { greet: `import { a } from "./other.js";\n${exported}`, files: { "lib/other.js": "1;\n" } },
    'imports "a" from "lib/other.js", which does not export it',
    "Export it there, or remove the import.",
  ],
  [
    "a name behind a re-export of everything",
    {
      greet: `import { two } from "./all.js";\n${exported}`,
      files: { ...other, "lib/all.js": 'export * from "./other.js";\n' },
    },
    'imports "two" from "lib/all.js", which does not export it',
    "Export it there, or import one of: one.",
  ],
  [
    "a re-exported name that does not exist",
    { greet: `export { two } from "./other.js";\n${exported}`, files: other },
    'imports "two" from "lib/other.js", which does not export it',
    "Export it there, or import one of: one, default.",
  ],
  [
    "a name that CommonJS cannot have",
    {
      greet: `import { two } from "./other.cjs";\n${exported}`,
      files: { "lib/other.cjs": "exports.one = 1;\n" },
    },
    'imports "two" from "lib/other.cjs", which does not export it',
    "Export it there, or import one of: one.",
  ],
  [
    "JSON without an attribute",
    { greet: `import words from "./words.json";\n${exported}`, files: words },
    `imports "${json}" without saying that it is JSON`,
    'Add `with { type: "json" }` after "./words.json".',
  ],
  [
    "JSON without an attribute after one with it",
    {
      greet: `import a from "./words.json" with { type: "json" };\nimport b from "./words.json";\n${exported}`,
      files: words,
    },
    `imports "${json}" without saying that it is JSON`,
    'Add `with { type: "json" }` after "./words.json".',
  ],
  [
    "JSON without options of `import`",
    { greet: 'export const greet = () => import("./words.json");\n', files: words },
    `imports "${json}" without saying that it is JSON`,
    'Add `with { type: "json" }` after "./words.json".',
  ],
  [
    "a style sheet",
    { greet: `import "./words.css";\n${exported}`, files: { "lib/words.css": "a {}" } },
    'imports "lib/words.css", which Node cannot import',
    "Import JavaScript or JSON. Read other files with `readFile` of `node:fs/promises`.",
  ],
  [
    "a file without its extension",
    { greet: `import "./other";\n${exported}`, files: other },
    'imports "lib/other", which is not in the package',
    'Did you mean "./other.js"?',
  ],
  [
    "a file with another case",
    { greet: `import "../lib/Other.js";\n${exported}`, files: other },
    'imports "lib/Other.js", which is not in the package',
    'Did you mean "./other.js"?',
  ],
  [
    "a file in a folder above",
    {
      greet: `import "./deep/a.js";\n${exported}`,
      files: { ...other, "lib/deep/a.js": 'import "../othr.js";\n' },
    },
    'imports "lib/othr.js", which is not in the package',
    'Did you mean "../other.js"?',
  ],
  [
    "a file that is not compiled yet",
    { greet: `import "./other.js";\n${exported}`, files: { "lib/other.ts": "export {};\n" } },
    'imports "lib/other.js", which is not in the package',
    'Build it first: the package has only its source "lib/other.ts".',
  ],
])("a handler whose module imports %s is not found", async (_what, modules, reason, hint) => {
  expect(await findProblems(modules)).toMatchObject([
    {
      code: "HandlerNotFound",
      severity: "error",
      file: "trailblaze/tools/greet.json",
      path: ["handler"],
      args: { reason: expect.stringContaining(reason) },
      hint,
    },
  ]);
});

test("a handler whose module imports JSON with `assert` is an error in every version of Node", async () => {
  const greet = `import words from "./words.json" assert { type: "json" };\n${exported}`;
  // Node 22 and later do not parse it.
  const parses = Number(process.versions.node.split(".")[0]) < 22;
  expect(await findProblems({ greet, files: words })).toMatchObject([
    { code: parses ? "HandlerNotFound" : "UnparsableModule", severity: "error" },
  ]);
});

test("a server whose program imports a name that does not exist is not found", async () => {
  const problems = await validateTree({
    extension: { servers: ["desk"] },
    files: {
      "trailblaze/servers/desk.json": { description: "The desk.", script: "./desk.js" },
      "desk.js": 'import { two } from "./lib/other.js";\n',
      ...other,
    },
  });
  expect(problems).toMatchObject([
    {
      code: "HandlerNotFound",
      path: ["script"],
      args: { reason: '"desk.js" imports "two" from "lib/other.js", which does not export it' },
    },
  ]);
});

test("a default import of CommonJS that Node reads as an ES module is one problem, at that module", async () => {
  const problems = await findProblems({
    greet: `import other from "./other.js";\n${exported}`,
    files: { "lib/other.js": "module.exports = 1;\n" },
  });
  expect(problems.map(({ code, file }) => [code, file])).toEqual([["WrongModuleFormat", "lib/other.js"]]);
});

test("a name from a module with a syntax error is one problem, at that module", async () => {
  const problems = await findProblems({
    greet: `import { two } from "./other.js";\n${exported}`,
    files: { "lib/other.js": "export const = 1;\n" },
  });
  expect(problems.map(({ code, file }) => [code, file])).toEqual([["UnparsableModule", "lib/other.js"]]);
});

test.each<[string, Modules]>([
  ["names that exist", { greet: `import a, { one as b } from "./other.js";\n${exported}`, files: other }],
  ["a namespace", { greet: `import * as two from "./other.js";\n${exported}`, files: other }],
  [
    "a default and a namespace",
    { greet: `import a, * as two from "./other.js";\n${exported}`, files: other },
  ],
  ["no names", { greet: `import {} from "./other.js";\nimport "./other.js";\n${exported}`, files: other }],
  [
    "a name in a comment",
    { greet: `import { one /* , two */ } from "./other.js";\n${exported}`, files: other },
  ],
  [
    "a name with $",
    { greet: `import { $a } from "./b.js";\n${exported}`, files: { "lib/b.js": "export const $a = 1;\n" } },
  ],
  [
    "a name that is a string",
    {
      greet: `import { "a b" as a } from "./b.js";\n${exported}`,
      files: { "lib/b.js": 'const a = 1;\nexport { a as "a b" };\n' },
    },
  ],
  ["default by its name", { greet: `import { default as a } from "./other.js";\n${exported}`, files: other }],
  [
    "a name that a dependency may export",
    {
      greet: `import { two } from "./b.js";\n${exported}`,
      files: { "lib/b.js": 'export * from "node:fs";\n' },
    },
  ],
  [
    "a name that CommonJS may create",
    {
      greet: `import { two } from "./b.cjs";\n${exported}`,
      files: { "lib/b.cjs": "Object.assign(exports, make());\nfunction make() { return {}; }\n" },
    },
  ],
  [
    "the default of CommonJS",
    { greet: `import two from "./b.cjs";\n${exported}`, files: { "lib/b.cjs": "exports.a = 1;\n" } },
  ],
  [
    "names in a cycle",
    {
      greet: `import { one } from "./b.js";\n${exported}`,
      files: { "lib/b.js": 'import { greet } from "./greet.js";\nexport const one = () => greet;\n' },
    },
  ],
  [
    "JSON with an attribute",
    { greet: `import a from "./words.json" with { type: "json" };\n${exported}`, files: words },
  ],
  [
    "JSON with options of `import`",
    {
      greet: 'export const greet = () => import("./words.json", { with: { type: "json" } });\n',
      files: words,
    },
  ],
  [
    "JSON in a `try` block",
    { greet: `try { await import("./words.json"); } catch {}\n${exported}`, files: words },
  ],
])("a handler whose module imports %s is valid", async (_what, modules) => {
  expect((await findProblems(modules)).filter(({ severity }) => severity !== "info")).toEqual([]);
});

test("CommonJS may require JSON", async () => {
  const problems = await validateTree({
    extension: { tools: ["greet"] },
    files: {
      "trailblaze/tools/greet.json": greetTool("./lib/greet.cjs#greet"),
      "lib/greet.cjs": 'exports.greet = () => require("./words.json");\n',
      ...words,
    },
  });
  expect(problems).toEqual([]);
});
