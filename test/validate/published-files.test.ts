import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import type { Tree } from "../support/tree.ts";
import { greetTool, makePack, type PackTree, prompt, validateTree } from "./validate-tree.ts";

const codes = ["FileNotPublished"];
const fileOf = ({ args }: Problem) => ("file" in args ? args.file : undefined);

const pack = (fields: Record<string, unknown>, files: Tree = {}): PackTree => ({
  extension: { servers: ["desk"], tools: ["greet"], prompts: ["hello", "bye"] },
  files: {
    "trailblaze/servers/desk.json": { script: "./server/main.js" },
    "trailblaze/tools/greet.json": greetTool("./lib/greet.js#greet", { initialize: "./setup.js" }),
    "trailblaze/prompts.yaml": "hello: { name: hello, content: Hi }\nbye: { name: bye, content: Bye }\n",
    "lib/greet.js": "export const greet = 1;",
    "setup.js": "export default () => {};",
    "server/main.js": "",
    ...files,
  },
  fields,
});

async function findUnpublished(fields: Record<string, unknown>, files?: Tree) {
  const problems = await validateTree(pack(fields, files), codes);
  return problems.map((problem) => {
    expect(problem.severity).toBe("error");
    return fileOf(problem);
  });
}

describe("files that npm would publish", () => {
  test.each([
    ["no list", {}],
    ["a program that bin names", { files: ["trailblaze", "lib", "setup.js"], bin: "./server/main.js" }],
    ["a private package", { files: [], private: true }],
  ])("FileNotPublished is not reported for %s", async (_what, fields) => {
    expect(await findUnpublished(fields)).toEqual([]);
  });

  test("a file with a slash behind its name ends no validation", async () => {
    const script = { "trailblaze/servers/desk.json": { script: "./server/main.js/" } };
    expect(
      await findUnpublished({ files: ["server/main.js/", "trailblaze", "lib", "setup.js"] }, script),
    ).toEqual([]);
  });

  test("FileNotPublished is reported for a module of a dependency unless it is bundled", async () => {
    const files = {
      "trailblaze/tools/greet.json": greetTool("./node_modules/greeter/index.js"),
      "node_modules/greeter/index.js": "export default 1;",
    };
    expect(await findUnpublished({}, files)).toEqual(["node_modules/greeter/index.js"]);
    const [problem] = await validateTree({ extension: { tools: ["greet"] }, files }, ["FileNotPublished"]);
    expect(problem?.args).toMatchObject({ packageName: "greeter" });
    expect(problem?.hint).not.toContain('"files"');
    expect(await findUnpublished({ bundleDependencies: ["greeter"] }, files)).toEqual([]);
    expect(await findUnpublished({ bundledDependencies: ["greeter"] }, files)).toEqual([]);
  });
});

describe("files that npm would exclude", () => {
  test.each([
    ["what the list does not name", { files: ["trailblaze", "server"] }, {}, ["lib/greet.js", "setup.js"]],
    ["what .gitignore excludes", {}, { ".gitignore": "/lib\n" }, ["lib/greet.js"]],
  ])("FileNotPublished is reported for %s", async (_what, fields, files, expected) => {
    expect(await findUnpublished(fields, files)).toEqual(expected);
  });

  test.skipIf(process.platform === "win32")(
    "FileNotPublished is reported for a definition that is a symbolic link",
    async () => {
      const folder = makePack(pack({}, { "shared/hello.json": prompt("hello") }));
      symlinkSync("../shared/hello.json", join(folder, "trailblaze/hello.json"));
      symlinkSync("../trailblaze", join(folder, "lib/linked"));
      const { problems } = await validateExtension(folder);
      expect(problems.filter(({ code }) => codes.includes(code))).toEqual([]);
      const linked = makePack({
        extension: { prompts: ["hello"] },
        files: { "shared/hello.json": prompt("hello"), "trailblaze/prompts/other.txt": "" },
      });
      symlinkSync("../../shared/hello.json", join(linked, "trailblaze/prompts/hello.json"));
      const report = await validateExtension(linked);
      expect(report.problems.map(({ code, file }) => [code, file])).toEqual([
        ["FileNotPublished", "trailblaze/prompts/hello.json"],
      ]);
    },
  );
});

describe("files that needed modules import", () => {
  const files = ["trailblaze", "lib/greet.js", "server/main.js", "setup.js"];
  const importing = (text: string, tree: Tree = {}, fields: Record<string, unknown> = {}) =>
    findUnpublished({ files, ...fields }, { "lib/greet.js": text, ...tree });
  const helper = { "lib/helper.js": "export const help = 1;" };

  test.each([
    ["an import", 'import { help } from "./helper.js"; export const greet = help;'],
    ["an `export *`", 'export * from "./helper.js"; export const greet = 1;'],
    ["an import() of a literal", 'export const greet = () => import("./helper.js");'],
  ])("FileNotPublished is reported for a file that is needed by %s", async (_what, text) => {
    expect(await importing(text, helper)).toEqual(["lib/helper.js"]);
    expect(await importing(text, helper, { files: [...files, "lib/helper.js"] })).toEqual([]);
  });

  test.each([
    ["its path", "./helper.cjs", "lib/helper.cjs"],
    ["an added extension", "./helper", "lib/helper.js"],
  ])(
    "FileNotPublished is reported for a file that require() finds by %s",
    async (_what, specifier, expected) => {
      const tree = {
        "lib/package.json": { type: "commonjs" },
        "lib/helper.cjs": "",
        "lib/helper.js": "",
      };
      const text = (call: string) => `const a = ${call}; exports.greet = { ...require("node:fs"), a };`;
      const call = `require("${specifier}")`;
      expect(await importing(text(call), tree)).toEqual([expected]);
      expect(await importing(text(`{...${call}}`), tree)).toEqual([expected]);
      expect(await importing(text(`"nothing" // ${call}\n`), tree)).toEqual([]);
      expect(await importing(text(`'${call}'`), tree)).toEqual([]);
      expect(await importing(text(`mod.${call}`), tree)).toEqual([]);
      expect(await importing(text(`require.resolve("${specifier}")`), tree)).toEqual([]);
    },
  );

  test("imports are followed through any number of modules, published ones and cycles included", async () => {
    const tree = {
      "lib/a.js": 'import "./b.js"; import "./greet.js";',
      "lib/b.js": 'export * from "./c.js"; export * from "./a.js";',
      "lib/c.js": 'import data from "./d.json" with { type: "json" };',
      "lib/d.json": "{}",
    };
    const text = 'import "./a.js"; import "./a.js"; export const greet = 1;';
    const fields = { files: [...files, "lib/b.js"] };
    expect(await importing(text, tree, fields)).toEqual(["lib/a.js", "lib/c.js", "lib/d.json"]);
  });

  test("imports are followed from programs of servers and from definitions that are code", async () => {
    const tree = {
      "server/main.js": 'import "./routes.js";',
      "server/routes.js": "",
      "trailblaze/prompts.yaml": "bye: { name: bye, content: Bye }\n",
      "trailblaze/prompts/hello.mjs": 'import { text } from "../../texts.mjs"; export default text;',
      "texts.mjs": 'export const text = { name: "hello", content: "Hi" };',
    };
    const problems = await validateTree(pack({ files }, tree), codes);
    const importer = "trailblaze/prompts/hello.mjs";
    expect(problems).toMatchObject([
      { item: "desk", path: ["script"], args: { file: "server/routes.js", importer: "server/main.js" } },
      { item: "hello", file: importer, args: { file: "texts.mjs", importer } },
    ]);
  });
});
