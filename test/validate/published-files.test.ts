import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { validateExtension } from "../../src/api/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";
import { greetTool, makePack, type PackTree, prompt, validateTree } from "./validate-tree.ts";

const codes = ["FileNotPublished"];

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

async function findUnpublished(fields: Record<string, unknown>, files?: Tree): Promise<string[]> {
  const problems = await validateTree(pack(fields, files), codes);
  return problems.map(({ severity, message }) => {
    expect(severity).toBe("error");
    return /"(.+?)"/.exec(message)?.[1] ?? message;
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
    expect(problems.filter(({ code }) => codes.includes(code)).map(({ message }) => message)).toEqual([
      expect.stringContaining('"lib/greet.js"'),
    ]);
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
