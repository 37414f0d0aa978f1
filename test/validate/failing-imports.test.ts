// Imports of files of the package that Node cannot load, and similar ones that it can.
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

const words = { "lib/words.json": {} };
const other = { "lib/other.js": "export const one = 1;\nexport default 2;\n" };

test.each<[string, Modules, string, string]>([
  [
    "a style sheet",
    { greet: `import "./words.css";\n${exported}`, files: { "lib/words.css": "a {}" } },
    'imports "lib/words.css", which Node cannot import',
    "Import JavaScript or JSON. Read other files with `readFile` of `node:fs/promises`.",
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

test.each<[string, Modules]>([
  [
    "names in a cycle",
    {
      greet: `import { one } from "./b.js";\n${exported}`,
      files: { "lib/b.js": 'import { greet } from "./greet.js";\nexport const one = () => greet;\n' },
    },
  ],
  [
    "JSON with options of `import`",
    {
      greet: 'export const greet = () => import("./words.json", { with: { type: "json" } });\n',
      files: words,
    },
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
