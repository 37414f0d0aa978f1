import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
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

const everything = [
  "trailblaze/servers/desk.json",
  "server/main.js",
  "trailblaze/tools/greet.json",
  "lib/greet.js",
  "setup.js",
  "trailblaze/prompts.yaml",
];
const but = (...files: string[]) => everything.filter((file) => !files.includes(file));

describe("what npm would publish", () => {
  test.each([
    ["everything, without a list", {}, {}],
    ["what the list names", { files: ["trailblaze", "lib/", "./setup.js", "/server"] }, {}],
    ["what patterns fit", { files: ["**/*.{js,json,yaml}"] }, {}],
    [
      "main, though no list names it",
      { files: ["trailblaze", "lib", "setup.js"], main: "server/main.js" },
      {},
    ],
    ["programs in bin", { files: ["trailblaze", "lib", "setup.js"], bin: { desk: "server/main.js" } }, {}],
    [
      "a folder of programs",
      { files: ["trailblaze", "lib", "setup.js"], directories: { bin: "./server" } },
      {},
    ],
    ["a program in bin", { files: ["trailblaze", "lib", "setup.js"], bin: "./server/main.js" }, {}],
    ["what .gitignore excludes but the list names", { files: ["*"] }, { ".gitignore": "lib\n" }],
    [
      "what .gitignore excludes but .npmignore does not",
      {},
      { ".gitignore": "lib\n", ".npmignore": "test\n" },
    ],
  ])("%s", async (_what, fields, files) => {
    expect(await findUnpublished(fields, files)).toEqual([]);
  });

  test("nothing of it matters for a private package", async () => {
    expect(await findUnpublished({ files: [], private: true })).toEqual([]);
  });

  test("nor for an installed one: its files are what was published", async () => {
    const { extension, files } = pack({});
    const fields = { trailblaze: extension, files: ["lib"] };
    const tree = { ...files, "package.json": packManifest("@acme/sample", fields) };
    const folder = makeTree({
      "package.json": { name: "app", dependencies: { "@acme/sample": "1" } },
      ...Object.fromEntries(
        Object.entries(tree).map(([file, text]) => [`node_modules/@acme/sample/${file}`, text]),
      ),
    });
    const { problems } = await validateExtension("@acme/sample", { cwd: folder });
    expect(problems.filter(({ code }) => codes.includes(code))).toEqual([]);
  });

  test("a module of a bundled dependency", async () => {
    const files = {
      "trailblaze/tools/greet.json": greetTool("./node_modules/greeter/index.js"),
      "node_modules/greeter/index.js": "export default 1;",
    };
    expect(await findUnpublished({}, files)).toEqual(["node_modules/greeter/index.js"]);
    expect(await findUnpublished({ bundleDependencies: ["greeter"] }, files)).toEqual([]);
    expect(await findUnpublished({ bundledDependencies: ["greeter"] }, files)).toEqual([]);
  });
});

describe("patterns that take too much to match", () => {
  const long = "a".repeat(200);
  const files = Object.fromEntries(
    Array.from({ length: 50 }, (_, index) => [`lib/${long}${index}.js`, "export default 1;"]),
  );
  const importing = Object.keys(files).map((file) => `import "../${file}";`);
  const tree = { ...files, "lib/greet.js": `${importing.join("\n")} export const greet = 1;` };

  test.each([
    ["stars", "lib/*a*a*a*a*b"],
    ["groups", `lib/${"?(a|aa)".repeat(30)}b`],
    ["groups in groups", "lib/@(@(*a|*aa)|@(*a|*b))*@(a|aa)b"],
    ["braces", "{a,b}".repeat(20)],
    ["ranges", "{1..100000}{1..100000}"],
  ])("%s: the check is skipped and reports nothing", async (_what, pattern) => {
    expect(await findUnpublished({ files: [pattern] }, tree)).toEqual([]);
    expect(await findUnpublished({}, { ...tree, ".npmignore": `${pattern}\nsetup.js` })).toEqual([]);
  });

  test("but not by their look: they are matched where names are short", async () => {
    const patterns = ["lib/*g*r*e*e*t.js", "?(x|t)railblaze/**", "{{server,set}/**,setup.js}"];
    expect(await findUnpublished({ files: patterns })).toEqual([]);
  });
});

describe("what it would leave out", () => {
  test.each([
    ["everything, with an empty list", { files: [] }, {}, everything],
    ["what the list forgets", { files: ["trailblaze", "server"] }, {}, ["lib/greet.js", "setup.js"]],
    ["what the list names and then excludes", { files: ["*", "!lib"] }, {}, ["lib/greet.js"]],
    ["what .npmignore excludes", {}, { ".npmignore": "*.yaml\n" }, ["trailblaze/prompts.yaml"]],
    ["what .gitignore excludes", {}, { ".gitignore": "/lib\n# kept: setup.js\n" }, ["lib/greet.js"]],
    [
      "what an ignore file inside a listed folder excludes",
      { files: ["*"] },
      { "lib/.npmignore": "*" },
      ["lib/greet.js"],
    ],
    [
      "main, where it begins with ./",
      { files: ["trailblaze", "lib", "server"], main: "./setup.js" },
      {},
      ["setup.js"],
    ],
    ["all but main", { files: ["lib"], main: "setup.js" }, {}, but("lib/greet.js", "setup.js")],
  ])("%s", async (_what, fields, files, expected) => {
    expect(await findUnpublished(fields, files)).toEqual(expected);
  });

  test("is told where it is needed, and once", async () => {
    const files = {
      "trailblaze/tools/greet.json": greetTool("./setup.js", { initialize: "./setup.js" }),
      "trailblaze/prompts/bye.json": prompt("bye", { handler: "./setup.js" }),
    };
    const problems = await validateTree(pack({ files: ["lib", "server"] }, files), codes);
    expect(problems.map(({ file, kind, item, path }) => [file, kind, item, path?.join(".")])).toEqual([
      ["trailblaze/servers/desk.json", "server", "desk", undefined],
      ["trailblaze/tools/greet.json", "tool", "greet", undefined],
      ["trailblaze/tools/greet.json", "tool", "greet", "handler"],
      ["trailblaze/prompts.yaml", "prompt", undefined, undefined],
      ["trailblaze/prompts/bye.json", "prompt", "bye", undefined],
    ]);
  });

  test("is not told of what is not there at all", async () => {
    const files = {
      "trailblaze/tools/greet.json": greetTool("./dist/greet.js", { initialize: "../setup.js" }),
      "trailblaze/servers/desk.json": { script: "./server/missing.js" },
    };
    expect(await findUnpublished({ files: ["trailblaze"] }, files)).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("symbolic links, which npm does not pack", async () => {
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
  });

  test("what the ignore file of a workspace excludes from a member without a list", async () => {
    const { extension, files } = pack({});
    const member = { ...files, "package.json": packManifest("@acme/sample", { trailblaze: extension }) };
    const folder = makeTree({
      "package.json": { name: "root", private: true, workspaces: ["packages/*"] },
      ".gitignore": "lib\n",
      ...Object.fromEntries(Object.entries(member).map(([file, text]) => [`packages/sample/${file}`, text])),
    });
    const { problems } = await validateExtension(join(folder, "packages/sample"));
    expect(problems.filter(({ code }) => codes.includes(code)).map(fileOf)).toEqual(["lib/greet.js"]);
  });
});

describe("what the needed modules import", () => {
  const files = ["trailblaze", "lib/greet.js", "lib/package.json", "server/main.js", "setup.js"];
  const importing = (text: string, tree: Tree = {}, fields: Record<string, unknown> = {}) =>
    findUnpublished({ files, ...fields }, { "lib/greet.js": text, ...tree });
  const helper = { "lib/helper.js": "export const help = 1;" };

  test.each([
    ["an import", 'import { help } from "./helper.js"; export const greet = help;'],
    ["an import for its effects", 'import "./helper.js"; export const greet = 1;'],
    ["an export from it", 'export * from "./helper.js"; export const greet = 1;'],
    ["a named export from it", 'export { help } from "./helper.js"; export const greet = 1;'],
    ["an import() of a literal", 'export const greet = () => import("./helper.js");'],
    ["a path with a query and escapes", 'import "./help%65r.js?v=1"; export const greet = 1;'],
    ["a path through another folder", 'import "../lib/helper.js"; export const greet = 1;'],
  ])("%s", async (_what, text) => {
    expect(await importing(text, helper)).toEqual(["lib/helper.js"]);
    expect(await importing(text, helper, { files: [...files, "lib/helper.js"] })).toEqual([]);
  });

  test.each([
    ["a comment", '// import "./helper.js";\nexport const greet = 1;'],
    ["a text", `export const greet = 'import "./helper.js"';`],
    ["an import() of what only running it tells", `export const greet = () => import("./help" + "er.js");`],
    ["a template with places", "export const greet = (name) => import(`./${name}.js`);"],
    ["a path that Node does not guess", 'import "./helper"; export const greet = 1;'],
    ["a file that is not there", 'import "./nothing.js"; export const greet = 1;'],
    ["what lies outside of the package", 'import "../../helper.js"; export const greet = 1;'],
    ["another package", 'import "helper"; import "helper/lib/helper.js"; export const greet = 1;'],
    ["a file in node_modules", 'import "../node_modules/helper/lib.js"; export const greet = 1;'],
  ])("but not %s", async (_what, text) => {
    const tree = {
      ...helper,
      ...(process.platform === "win32" ? {} : { "lib/*.js": "" }),
      "node_modules/helper/lib.js": "",
      "node_modules/helper/lib/helper.js": "",
    };
    expect(await importing(text, tree)).toEqual([]);
  });

  test.each([
    ["the other format", { type: "commonjs" }, ["lib/package.json"]],
    ["the format of the package", { type: "module" }, []],
    ["no format", { name: "inner" }, []],
  ])("a package.json in the folder of a module with %s", async (_what, manifest, expected) => {
    const tree = { "lib/package.json": manifest };
    const isCommonJs = expected.length > 0;
    const text = isCommonJs ? "exports.greet = 1;" : "export const greet = 1;";
    const withoutManifest = { files: files.filter((file) => file !== "lib/package.json") };
    expect(await importing(text, tree, withoutManifest)).toEqual(expected);
    expect(await importing(text, tree)).toEqual([]);
  });

  test.each([
    ["the file itself", "./helper.cjs", "lib/helper.cjs"],
    ["an ending", "./helper", "lib/helper.js"],
    ["an ending before a folder", "./both", "lib/both.js"],
    ["a folder's index", "./folder", "lib/folder/index.js"],
    ["a folder's index, with a slash", "./folder/", "lib/folder/index.js"],
    ["the folder that it lies in", ".", "lib/index.js"],
    ["data", "./data", "lib/data.json"],
    ["machine code", "./addon", "lib/addon.node"],
  ])("require() of %s", async (_what, specifier, expected) => {
    const tree = {
      "lib/package.json": { type: "commonjs" },
      "lib/helper.cjs": "",
      "lib/helper.js": "",
      "lib/both.js": "",
      "lib/both/index.js": "",
      "lib/folder/index.js": "",
      "lib/index.js": "",
      "lib/data.json": "{}",
      "lib/addon.node": "",
    };
    const text = (call: string) => `const a = ${call}; exports.greet = { ...require("node:fs"), a };`;
    const call = `require("${specifier}")`;
    expect(await importing(text(call), tree)).toEqual([expected]);
    expect(await importing(text(`{...${call}}`), tree)).toEqual([expected]);
    expect(await importing(text(`"nothing" // ${call}\n`), tree)).toEqual([]);
    expect(await importing(text(`'${call}'`), tree)).toEqual([]);
    expect(await importing(text(`mod.${call}`), tree)).toEqual([]);
    expect(await importing(text(`require.resolve("${specifier}")`), tree)).toEqual([]);
  });

  test("an import() in CommonJS guesses no ending", async () => {
    const tree = { ...helper, "lib/package.json": { type: "commonjs" } };
    expect(await importing('exports.greet = () => import("./helper");', tree)).toEqual([]);
    expect(await importing('exports.greet = () => import("./helper.js");', tree)).toEqual(["lib/helper.js"]);
  });

  test("through any number of modules, published ones among them, and in circles", async () => {
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

  test("from programs of servers, and from definitions that are code", async () => {
    const tree = {
      "server/main.js": 'import "./routes.js";',
      "server/routes.js": "",
      "trailblaze/prompts.yaml": "bye: { name: bye, content: Bye }\n",
      "trailblaze/prompts/hello.mjs": 'import { text } from "../../texts.mjs"; export default text;',
      "texts.mjs": 'export const text = { name: "hello", content: "Hi" };',
    };
    const problems = await validateTree(pack({ files }, tree), codes);
    expect(problems.map(({ args, file, kind, item, path }) => [args, file, kind, item, path])).toEqual([
      [
        expect.objectContaining({ file: "server/routes.js", importer: "server/main.js" }),
        "trailblaze/servers/desk.json",
        "server",
        "desk",
        ["script"],
      ],
      [
        expect.objectContaining({ file: "texts.mjs", importer: "trailblaze/prompts/hello.mjs" }),
        "trailblaze/prompts/hello.mjs",
        "prompt",
        "hello",
        undefined,
      ],
    ]);
  });

  test("is told where the first need of it stands: what a definition names before what is imported", async () => {
    const tree = {
      "lib/greet.js": 'import "../setup.js"; import "./helper.js"; export const greet = 1;',
      ...helper,
    };
    const fields = { files: ["trailblaze", "lib/greet.js", "server"] };
    const problems = await validateTree(pack(fields, tree), codes);
    expect(problems.map((problem) => [fileOf(problem), problem.path, problem.line])).toEqual([
      ["setup.js", ["initialize"], expect.any(Number)],
      ["lib/helper.js", ["handler"], expect.any(Number)],
    ]);
  });

  test("does not matter for a private package", async () => {
    const text = 'import "./helper.js"; export const greet = 1;';
    expect(await importing(text, helper, { private: true })).toEqual([]);
  });

  test("what a module that cannot be parsed imports stays open", async () => {
    expect(await importing('import "./helper.js"; export const greet = "', helper)).toEqual([]);
    const tree = { ...helper, "lib/package.json": { type: "commonjs" } };
    expect(await importing('require("./helper"); exports.greet = "', tree)).toEqual([]);
  });

  test("no more than two thousand files are followed", { timeout: 30_000 }, async () => {
    const count = 2100;
    const names = Array.from({ length: count }, (_, index) => `lib/m${index}.js`);
    const chain = names.map((name, index) => [name, `import "./m${index + 1}.js";`]);
    const found = await importing('import "./m0.js"; export const greet = 1;', Object.fromEntries(chain));
    expect(found).toEqual(names.slice(0, 2000));
  });

  test("nor more than so many bytes", { timeout: 30_000 }, async () => {
    const large = `/*${"x".repeat(12 << 20)}*/`;
    const chain = ["a", "b", "c", "d"].map((name, index) => [
      `lib/${name}.js`,
      `import "./${"bcde"[index]}.js";${large}`,
    ]);
    const tree = { ...Object.fromEntries(chain), "lib/e.js": "" };
    expect(await importing('import "./a.js"; export const greet = 1;', tree)).toEqual(
      ["a", "b", "c", "d"].map((name) => `lib/${name}.js`),
    );
  });
});

test.each([
  ["a pipe", undefined],
  ["megabytes", "a\n".repeat(1 << 20)],
  ["patterns without end", `${"{a,b}".repeat(30)}\n`],
  ["patterns that repeat repetitions", "+(+(a|aa)|b)\n"],
])("an ignore file that is %s leaves the question open", { timeout: 10_000 }, async (_what, text) => {
  const folder = makePack(pack({}, text === undefined ? {} : { ".npmignore": text }));
  if (text === undefined) {
    if (process.platform === "win32") return;
    const { makeFifo } = await import("../support/special-files.ts");
    makeFifo(join(folder, ".npmignore"));
  }
  const { problems } = await validateExtension(folder);
  expect(problems.filter(({ code }) => codes.includes(code))).toEqual([]);
});

describe("many files of one folder", () => {
  const names = ["one", "two", "three", "four", "five"];
  const tree = (count: number): PackTree => ({
    extension: { prompts: names.slice(0, count) },
    files: Object.fromEntries(names.map((name) => [`trailblaze/prompts/${name}.json`, prompt(name)])),
    fields: { files: ["lib"] },
  });

  test("are one problem, which names the first and the folder", async () => {
    const problems = await validateTree(tree(5), codes);
    const file = "trailblaze/prompts/one.json";
    expect(problems).toMatchObject([{ file, args: { file, others: 4 } }]);
  });

  test("are single problems where they are few", async () => {
    expect(await validateTree(tree(3), codes)).toHaveLength(3);
  });
});
