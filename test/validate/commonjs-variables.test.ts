// CommonJS variables in ES modules, where Node does not define them.
import { describe, expect, test } from "vitest";
import { greetTool, validateTree } from "./validate-tree.ts";

const find = (greet: string) =>
  validateTree({
    extension: { tools: ["greet"] },
    files: { "lib/greet.js": greet, "trailblaze/tools/greet.json": greetTool("./lib/greet.js#greet") },
  });

const inFunctions: [text: string, name: string][] = [
  ['export function greet() {\n  const fs = require("node:fs");\n  return fs;\n}', "require"],
  ["export function greet() {\n  return __dirname;\n}", "__dirname"],
];

const whenLoaded: [text: string, name: string | undefined][] = [
  ["const folder = __dirname;\nexport const greet = () => folder;", "__dirname"],
  ['export default require("node:fs");\nexport const greet = 1;', undefined],
  ["export const greet = () => 1;\nif (require.main === module) greet();", undefined],
];

const allowed: [what: string, text: string][] = [
  [
    "a variable of import.meta",
    "const __dirname = import.meta.dirname;\nexport const greet = () => __dirname;",
  ],
  [
    "a global that the module sets",
    'import { createRequire } from "node:module";\nglobalThis.require = createRequire(import.meta.url);\nexport const greet = () => require("node:fs");',
  ],
  ["a try block", 'export const greet = () => {\n  try {\n    return require("a");\n  } catch {}\n};'],
  [
    "a bundle of CommonJS modules",
    'const wrap = (module) => module;\nconst a = wrap({ "a.js"(exports, module, require) { exports.b = require("b"); } });\nexport const greet = () => a;',
  ],
];

const report = async (text: string) =>
  (await find(text)).map(({ code, severity, file, line, args }) => ({ code, severity, file, line, args }));

describe("WrongModuleFormat", () => {
  test.each(inFunctions)("WrongModuleFormat warns about a variable in a function: %j", async (text, name) => {
    const line = text.split("\n").findIndex((one) => new RegExp(`(?<!\\.)${name}\\b`).test(one)) + 1;
    const args = expect.objectContaining({ name, isInFunction: true });
    expect(await report(text)).toEqual([
      { code: "WrongModuleFormat", severity: "warning", file: "lib/greet.js", line, args },
    ]);
  });

  test.each(whenLoaded)(
    "WrongModuleFormat is an error for a variable when loading: %j",
    async (text, name) => {
      const args = expect.objectContaining(name === undefined ? { isMixed: true } : { name });
      expect(await report(text)).toMatchObject([{ code: "WrongModuleFormat", severity: "error", args }]);
    },
  );

  test.each(allowed)("WrongModuleFormat is not reported for %s", async (_what, text) => {
    const found = await report(text);
    expect(found.filter(({ code }) => code === "WrongModuleFormat")).toEqual([]);
  });

  test("WrongModuleFormat in a function hides no missing export and no syntax error", async () => {
    const missing = await find("export const greeting = () => __dirname;");
    expect(missing.map(({ code }) => code).sort()).toEqual(["HandlerNotFound", "WrongModuleFormat"]);
    const broken = await find("export const greet = () => __dirname;\nconst a = ;");
    expect(broken.map(({ code }) => code)).toEqual(["UnparsableModule"]);
  });
});
