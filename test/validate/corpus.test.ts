// Packs with natural mistakes, and similar packs without them: each has exactly one problem with its code, place and
// arguments, or none.
import { describe, expect, test } from "vitest";
import type { ProblemCode } from "../../src/problems/index.ts";
import type { Tree } from "../support/tree.ts";
import { greetTool, validateTree } from "./validate-tree.ts";

interface Change {
  /** The content of `lib/greet.js`. */
  greet?: string;
  /** Keys of the tool with the handler `greet`. */
  tool?: Record<string, unknown>;
  /** The definition of the tool as code, by suffix. */
  code?: Tree;
  /** The definition of a subprocess server, if any. */
  server?: Record<string, unknown>;
  files?: Tree;
  /** Fields of package.json. */
  fields?: Record<string, unknown>;
}

type Severity = "error" | "warning" | "info";
/** Code, severity, `file:line:column` without missing parts, and arguments. */
type Expected = [ProblemCode, Severity, string, Record<string, unknown>];

const exported = "export const greet = () => 'Hello';\n";

async function judge({ greet = exported, tool = {}, code, server, files = {}, fields = {} }: Change) {
  const definition = { ...greetTool("./lib/greet.js#greet"), ...tool };
  const problems = await validateTree({
    extension: { tools: ["greet"], ...(server === undefined ? {} : { servers: ["desk"] }) },
    files: {
      "lib/greet.js": greet,
      ...Object.fromEntries(
        Object.entries(code ?? { json: definition }).map(([ending, text]) => [
          `trailblaze/tools/greet.${ending}`,
          text,
        ]),
      ),
      ...(server === undefined ? {} : { "trailblaze/servers/desk.json": server }),
      ...files,
    },
    fields,
  });
  return problems.map(({ code, severity, file, line, column, args }) => ({
    code,
    severity,
    place: [file, line, column].filter((part) => part !== undefined).join(":"),
    args: args as Record<string, unknown>,
  }));
}

async function expectOne(change: Change, [code, severity, place, args]: Expected) {
  const found = (await judge(change)).filter((one) => one.code === code || one.code !== "PrivatePackage");
  expect(found.map((one) => `${one.code} ${one.place}`)).toEqual([`${code} ${place}`]);
  expect(found[0]).toMatchObject({ severity, args });
}

const expectNone = async (change: Change) =>
  expect((await judge(change)).filter(({ code }) => code !== "PrivatePackage")).toEqual([]);

const undeclared = (
  place: string,
  name: string,
  args: object = {},
  severity: Severity = "error",
): Expected => [
  "UndeclaredDependency",
  severity,
  place,
  { name, isGuarded: severity === "warning", isDev: false, others: 0, ...args },
];

const lodash = 'import "lodash";\n';
const dev = { devDependencies: { lodash: "^4.17.0" } };

describe("UndeclaredDependency", () => {
  test.each<[string, Change, Expected]>([
    ["a static import", { greet: `${lodash}${exported}` }, undeclared("lib/greet.js:1:1", "lodash")],
    [
      "an import of a peer that only `peerDependenciesMeta` names",
      { greet: `${lodash}${exported}`, fields: { peerDependenciesMeta: { lodash: { optional: true } } } },
      undeclared("lib/greet.js:1:1", "lodash"),
    ],
    [
      "an import of a package in bundleDependencies that is not a dependency, which npm does not pack",
      { greet: `${lodash}${exported}`, fields: { bundleDependencies: ["lodash"] } },
      undeclared("lib/greet.js:1:1", "lodash"),
    ],
    [
      "an import of devDependencies",
      { greet: `${exported}  ${lodash}`, fields: dev },
      undeclared("lib/greet.js:2:3", "lodash", { isDev: true }),
    ],
    [
      "a subpath",
      { greet: `import get from "lodash/get.js";\n${exported}` },
      undeclared("lib/greet.js:1:1", "lodash", { specifier: "lodash/get.js" }),
    ],
    [
      "a re-export of everything",
      { greet: `${exported}export * from "lodash";\n` },
      undeclared("lib/greet.js:2:1", "lodash"),
    ],
    [
      "a dynamic import of a literal",
      { greet: 'export const greet = async () => (await import("lodash")).get;\n' },
      undeclared("lib/greet.js:1:41", "lodash"),
    ],
    [
      "a dynamic import of a template without expressions",
      { greet: "export const greet = () => import(`lodash`);\n" },
      undeclared("lib/greet.js:1:28", "lodash"),
    ],
    [
      "a dynamic import with a handler for success only",
      { greet: 'export const greet = () => import("lodash").then((all) => all.get);\n' },
      undeclared("lib/greet.js:1:28", "lodash"),
    ],
    [
      "an import in a catch block",
      { greet: 'export async function greet() {\n  try {} catch { await import("lodash"); }\n}\n' },
      undeclared("lib/greet.js:2:24", "lodash"),
    ],
    [
      "a require",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": 'const get = require("lodash/get");\nexports.greet = () => get;\n' },
      },
      undeclared("lib/greet.cjs:1:13", "lodash"),
    ],
    [
      "a require in a function",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": "exports.greet = () => require('lodash');\n" },
      },
      undeclared("lib/greet.cjs:1:23", "lodash"),
    ],
    [
      "an import of a module that the handler imports",
      { greet: `import "./util.js";\n${exported}`, files: { "lib/util.js": `\n${lodash}` } },
      undeclared("lib/util.js:2:1", "lodash"),
    ],
    [
      "one package in two modules",
      { greet: `import "./util.js";\n${lodash}${exported}`, files: { "lib/util.js": lodash } },
      undeclared("lib/greet.js:2:1", "lodash", { others: 1 }),
    ],
    [
      "two imports, one of them in a try block",
      { greet: `try { await import("lodash"); } catch {}\n${lodash}${exported}` },
      undeclared("lib/greet.js:2:1", "lodash"),
    ],
    [
      "an import of initialize",
      {
        tool: { initialize: "./lib/setup.js" },
        files: { "lib/setup.js": `${lodash}export default () => {};` },
      },
      undeclared("lib/setup.js:1:1", "lodash"),
    ],
    [
      "an import of a server's script",
      {
        server: { script: "./server.js" },
        files: { "server.js": 'import "@modelcontextprotocol/sdk/server/mcp.js";' },
      },
      undeclared("server.js:1:1", "@modelcontextprotocol/sdk"),
    ],
    [
      "an import of what node is to run",
      { server: { command: "node", args: ["./server.mjs"] }, files: { "server.mjs": lodash } },
      undeclared("server.mjs:1:1", "lodash"),
    ],
    [
      "what `imports` of package.json leads to",
      { greet: `import "#get";\n${exported}`, fields: { imports: { "#get": "lodash/get" } } },
      undeclared("lib/greet.js:1:1", "lodash", { specifier: "#get" }),
    ],
    [
      "an import in a module that `imports` leads to",
      {
        greet: `import "#lib/util";\n${exported}`,
        fields: { imports: { "#lib/*": { browser: "nope", import: "./lib/*.js" } } },
        files: { "lib/util.js": lodash },
      },
      undeclared("lib/util.js:1:1", "lodash"),
    ],
    [
      "an import in a module that the package's own name leads to",
      {
        greet: `import "@acme/sample/util";\n${exported}`,
        fields: { exports: { "./util": "./lib/util.js" } },
        files: { "lib/util.js": lodash },
      },
      undeclared("lib/util.js:1:1", "lodash"),
    ],
    [
      "an alias of a compiler",
      { greet: `import "@/util";\n${exported}` },
      undeclared("lib/greet.js:1:1", "@/util"),
    ],
    [
      "a name that only starts like one of Node's modules",
      { greet: `import "fs-extra";\n${exported}` },
      undeclared("lib/greet.js:1:1", "fs-extra"),
    ],
    [
      "an import of a definition that is code",
      {
        fields: dev,
        code: {
          mjs: `import get from "lodash";\nexport default { ...${JSON.stringify(greetTool("./lib/greet.js#greet"))}, get: undefined };`,
        },
        files: {
          "node_modules/lodash/package.json": { name: "lodash", version: "4.17.0", main: "index.js" },
          "node_modules/lodash/index.js": "module.exports = {};",
        },
      },
      undeclared("trailblaze/tools/greet.mjs:1:1", "lodash", { isDev: true }),
    ],
    [
      "a name that `imports` of package.json does not have",
      {
        greet: `import "#nope";\n${exported}`,
        fields: { imports: { "#lib/*": "./lib/*.js", "#off": null } },
      },
      undeclared("lib/greet.js:1:1", "#nope", { missingIn: "imports" }),
    ],
    [
      "a subpath of the package itself that `exports` does not have",
      { greet: `import "@acme/sample/util";\n${exported}`, fields: { exports: { ".": "./lib/greet.js" } } },
      undeclared("lib/greet.js:1:1", "@acme/sample/util", { missingIn: "exports" }),
    ],
    [
      "a subpath of the package itself that `exports` excludes in Node",
      {
        greet: `import "@acme/sample/util";\n${exported}`,
        fields: { exports: { "./util": { node: null, default: "./lib/greet.js" } } },
      },
      undeclared("lib/greet.js:1:1", "@acme/sample/util", { missingIn: "exports" }),
    ],
    [
      "an import in a try block, as a warning",
      {
        greet:
          'let color;\ntry { color = await import("lodash"); } catch {}\nexport const greet = () => color;\n',
      },
      undeclared("lib/greet.js:2:21", "lodash", {}, "warning"),
    ],
    [
      "an import with a catch, as a warning",
      { greet: 'export const greet = () => import("lodash").then((a) => f(a)).catch(() => {});\n' },
      undeclared("lib/greet.js:1:28", "lodash", {}, "warning"),
    ],
    [
      "a require in a try block, as a warning",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": 'try { require("lodash"); } catch {}\nexports.greet = 1;\n' },
      },
      undeclared("lib/greet.cjs:1:7", "lodash", {}, "warning"),
    ],
  ])("UndeclaredDependency is reported for %s", (_what, change, expected) => expectOne(change, expected));
});

test("the imports of a large module are judged in linear time", { timeout: 60_000 }, async () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, index) => `try { await import("m${index % 2}"); } catch {}`,
  );
  const found = await judge({ greet: `${exported}${lines.join("\n")}\n` });
  expect(found.map(({ code, severity, place }) => [code, severity, place])).toEqual([
    ["UndeclaredDependency", "warning", "lib/greet.js:2:13"],
    ["UndeclaredDependency", "warning", "lib/greet.js:3:13"],
  ]);
});

describe("UndeclaredDependency is not reported", () => {
  const cjs = (text: string): Change => ({
    tool: { handler: "./lib/greet.cjs#greet" },
    files: { "lib/greet.cjs": `${text}\nexports.greet = 1;\n` },
  });
  test.each<[string, Change]>([
    ...["dependencies", "peerDependencies", "optionalDependencies"].map((key): [string, Change] => [
      key,
      { greet: `${lodash}${exported}`, fields: { [key]: { lodash: "^4.17.0" } } },
    ]),
    [
      "an optional peer",
      {
        greet: `${lodash}${exported}`,
        fields: {
          peerDependencies: { lodash: "^4.17.0" },
          peerDependenciesMeta: { lodash: { optional: true } },
        },
      },
    ],
    [
      "a guarded import of a peer that only `peerDependenciesMeta` names",
      {
        greet: `try { await import("lodash"); } catch {}\n${exported}`,
        fields: { peerDependenciesMeta: { lodash: { optional: true } } },
      },
    ],
    ["a private package", { greet: `${lodash}${exported}`, fields: { ...dev, private: true } }],
    ["a module of Node", { greet: `import "fs";\nimport "fs/promises";\n${exported}` }],
    ["a module of Node in CommonJS", cjs('require("fs"); require("node:path");')],
    ["the package itself", { greet: `import "@acme/sample/lib/greet.js";\n${exported}` }],
    [
      "the package itself by the short form of `exports`",
      { greet: `import "@acme/sample";\n${exported}`, fields: { exports: "./lib/greet.js" } },
    ],
    [
      "`imports` of a package.json in a folder",
      {
        greet: `import "#util";\n${exported}`,
        files: {
          "lib/package.json": { type: "module", imports: { "#util": "./util.js" } },
          "lib/util.js": "",
        },
      },
    ],
    ["a comment", { greet: `// import "lodash";\n/* import("lodash") */\n${exported}` }],
    ["a string", { greet: `const a = 'import "lodash"', b = \`import("lodash")\`;\n${exported}` }],
    ["a computed import", { greet: "export const greet = (name) => import(name);\n" }],
    ["a template with an expression", { greet: "export const greet = (a) => import(`${a}/b`);\n" }],
    [
      "createRequire",
      {
        greet: `import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\nrequire("lodash");\n${exported}`,
      },
    ],
    ["the interface of Yarn Plug'n'Play", cjs('require("pnpapi");')],
    ["a method called require", cjs('const box = { require() {} };\nbox.require("lodash");')],
    ["a URL", { greet: `import "data:text/javascript,1";\n${exported}` }],
    ["a module that nothing imports", { files: { "test/greet.test.js": 'import "vitest";' } }],
    [
      "types that a compiler leaves out",
      { files: { "lib/greet.ts": 'import type { A } from "lodash";\nexport const greet = (a: A) => a;\n' } },
    ],
    [
      "`imports` that lead to a dependency",
      {
        greet: `import "#get";\n${exported}`,
        fields: { imports: { "#get": { node: "lodash/get" } }, dependencies: { lodash: "4" } },
      },
    ],
    [
      "names in the nearest package.json",
      {
        greet: `import "./sub/a.js";\n${exported}`,
        files: {
          "lib/sub/a.js": 'import "#u"; import "inner";',
          "lib/sub/u.js": "",
          "lib/sub/package.json": {
            name: "inner",
            type: "module",
            imports: { "#u": "./u.js" },
            exports: "./u.js",
          },
        },
        fields: { imports: { "#u": "left-pad" } },
      },
    ],
  ])("UndeclaredDependency is not reported for %s", (_what, change) => expectNone(change));
});

const typeScript = (
  place: string,
  file: string,
  args: object = {},
  severity: Severity = "error",
): Expected => [
  "TypeScriptNotPublishable",
  severity,
  place,
  { file, isPrivate: severity === "info", ...args },
];
const typed = "export const greet = (a: string): string => a;\n";

describe("TypeScriptNotPublishable", () => {
  const named = { tool: { handler: "./lib/greet.ts#greet" } };
  const definition = `export default ${JSON.stringify(greetTool("./lib/greet.js#greet"))};`;
  test.each<[string, Change, Expected]>([
    [
      "a handler",
      { ...named, files: { "lib/greet.ts": typed, "lib/greet.js": "" } },
      typeScript("trailblaze/tools/greet.json:10:3", "lib/greet.ts", { javascript: "lib/greet.js" }),
    ],
    [
      "a handler that is not compiled",
      { tool: { handler: "./src/greet.mts#greet" }, files: { "src/greet.mts": typed } },
      typeScript("trailblaze/tools/greet.json:10:3", "src/greet.mts"),
    ],
    [
      "initialize",
      { tool: { initialize: "./lib/setup.ts" }, files: { "lib/setup.ts": "export default () => {};" } },
      typeScript("trailblaze/tools/greet.json:11:3", "lib/setup.ts"),
    ],
    [
      "a definition",
      { code: { ts: definition } },
      typeScript("trailblaze/tools/greet.ts", "trailblaze/tools/greet.ts", { isDefinition: true }),
    ],
    [
      "the script of a server",
      { server: { script: "./server.ts" }, files: { "server.ts": "" } },
      typeScript("trailblaze/servers/desk.json:2:3", "server.ts"),
    ],
    [
      "the module that node runs",
      {
        server: { command: "node", args: ["--experimental-strip-types", "./server.ts"] },
        files: { "server.ts": "" },
      },
      typeScript("trailblaze/servers/desk.json:5:5", "server.ts"),
    ],
    [
      "a bare path that node runs",
      { server: { command: "node", args: ["server.ts"], cwd: "src" }, files: { "src/server.ts": "" } },
      typeScript("trailblaze/servers/desk.json:4:5", "src/server.ts"),
    ],
    [
      "an import of a .ts file",
      { greet: `import "./util.ts";\n${exported}`, files: { "lib/util.ts": typed } },
      typeScript("lib/greet.js:1:1", "lib/util.ts", { importer: "lib/greet.js" }),
    ],
    [
      "a handler in a private package, as information",
      { ...named, files: { "lib/greet.ts": typed }, fields: { private: true } },
      typeScript("trailblaze/tools/greet.json:10:3", "lib/greet.ts", {}, "info"),
    ],
  ])("TypeScriptNotPublishable is reported for %s", (_what, change, expected) => expectOne(change, expected));

  test.each<[string, Change]>([
    ["TypeScript beside the JavaScript that is named", { files: { "lib/greet.ts": typed } }],
    ["a definition beside the JavaScript built from it", { code: { ts: definition, mjs: definition } }],
    [
      "a server whose node has a loader",
      {
        server: { command: "node", args: ["--import", "tsx", "./server.ts"] },
        files: { "server.ts": "" },
        fields: { dependencies: { tsx: "4" } },
      },
    ],
    ["types alone", { files: { "lib/greet.d.ts": "export {};" } }],
  ])("TypeScriptNotPublishable is not reported for %s", (_what, change) => expectNone(change));
});

describe("UnpublishableDependency", () => {
  const depend = (spec: string, key = "dependencies", fields = {}): Change => ({
    fields: { [key]: { base: spec }, ...fields },
  });
  const at = (spec: string): Expected => [
    "UnpublishableDependency",
    "error",
    "package.json:16:5",
    { name: "base", spec },
  ];
  test.each<[Change, Expected]>([
    [depend("file:../base"), at("file:../base")],
    [depend("file:base-1.0.0.tgz"), at("file:base-1.0.0.tgz")],
    [depend("link:../base"), at("link:../base")],
    [depend("file:../base", "optionalDependencies"), at("file:../base")],
    [depend("file:../base", "peerDependencies"), at("file:../base")],
  ])("UnpublishableDependency is reported for %j", expectOne);

  test.each<Change>([
    ...["^1.0.0", "*", "", "npm:other@1", "github:acme/base", "workspace:*", "catalog:"].map((spec) =>
      depend(spec),
    ),
    depend("file:../base", "devDependencies"),
    depend("file:vendor/base", "dependencies", { bundleDependencies: ["base"] }),
    depend("file:../base", "dependencies", { private: true }),
  ])("UnpublishableDependency is not reported for %j", expectNone);
});

describe("InvalidPackageManifest", () => {
  const refused = (key: "name" | "version", fields: Record<string, unknown>): [Change, Expected] => [
    { fields },
    ["InvalidPackageManifest", "error", `package.json:${key === "name" ? 2 : 3}:3`, { key }],
  ];
  const names = [
    "Greeter",
    "my tools",
    "_tools",
    ".tools",
    "-tools",
    "tools!",
    "a/b",
    "@acme/",
    "@acme/.tools",
    "fs",
    "node_modules",
    " tools",
    "",
    "a".repeat(215),
  ];
  const versions = ["1.0", "1", "latest", "", "1.0.0.0", "01.0.0", 1];
  test.each([
    ...names.map((name) => refused("name", { name })),
    ...versions.map((version) => refused("version", { version })),
  ])("InvalidPackageManifest is reported for %j", expectOne);

  test.each<Record<string, unknown>>([
    { name: "tools" },
    { name: "@acme/my-tools_2.x" },
    { name: "@acme/fs" },
    { name: "@acme/_tools" },
    { name: "@acme/-tools" },
    { version: "0.0.0-beta.1+build" },
  ])("InvalidPackageManifest is not reported for %j", (fields) => expectNone({ fields }));
});

test.each<Record<string, unknown>>([{}, { name: undefined }, { version: undefined }])(
  "PrivatePackage is reported as information for a private package with %j",
  (fields) =>
    expectOne({ fields: { private: true, ...fields } }, [
      "PrivatePackage",
      "info",
      `package.json:${Object.keys(fields).length === 0 ? 15 : 14}:3`,
      {},
    ]),
);

describe("HandlerNotFound never leads to TypeScript", () => {
  const built = (place: string, source: string): Expected => [
    "HandlerNotFound",
    "error",
    place,
    { hint: expect.stringMatching(`Build it first.*"${source}"`) },
  ];
  test.each<[string, Change, Expected]>([
    [
      "a handler whose .js is not built",
      { tool: { handler: "./lib/tools.js#greet" }, files: { "lib/tools.ts": typed } },
      built("trailblaze/tools/greet.json:10:3", "lib/tools.ts"),
    ],
    [
      "a handler whose .mjs is not built",
      { tool: { handler: "./lib/tools.mjs#greet" }, files: { "lib/tools.mts": typed } },
      built("trailblaze/tools/greet.json:10:3", "lib/tools.mts"),
    ],
    [
      "a handler without a suffix",
      { tool: { handler: "./lib/tools#greet" }, files: { "lib/tools.ts": typed } },
      built("trailblaze/tools/greet.json:10:3", "lib/tools.ts"),
    ],
    [
      "a script that is not built",
      { server: { script: "./server.js" }, files: { "server.ts": "" } },
      built("trailblaze/servers/desk.json:2:3", "server.ts"),
    ],
    [
      "an import that is not built",
      { greet: `import "./util.js";\n${exported}`, files: { "lib/util.ts": typed } },
      [
        "HandlerNotFound",
        "error",
        "trailblaze/tools/greet.json:10:3",
        { hint: expect.stringMatching(/build/i) },
      ],
    ],
    [
      "a misspelled .ts",
      { tool: { handler: "./lib/tolos.ts#greet" }, files: { "lib/tools.ts": typed } },
      ["HandlerNotFound", "error", "trailblaze/tools/greet.json:10:3", { handler: "./lib/tolos.ts#greet" }],
    ],
    [
      "a .ts without its ./",
      { tool: { handler: "lib/tools.ts#greet" }, files: { "lib/tools.ts": typed } },
      ["HandlerNotFound", "error", "trailblaze/tools/greet.json:10:3", { handler: "lib/tools.ts#greet" }],
    ],
  ])("HandlerNotFound does not suggest TypeScript for %s", async (_what, change, expected) => {
    await expectOne(change, expected);
    const [found] = await judge(change);
    expect(String(found?.args.hint ?? "")).not.toContain("Did you mean");
  });
});

describe("UnparsableModule", () => {
  const at = (place: string, reason: RegExp): Expected => [
    "UnparsableModule",
    "error",
    place,
    { file: place.replace(/:.*/, ""), reason: expect.stringMatching(reason) },
  ];
  const cjs = (text: string): Change => ({
    tool: { handler: "./lib/greet.cjs#greet" },
    files: { "lib/greet.cjs": text },
  });
  test.each<[string, Change, Expected]>([
    [
      "a semicolon in parentheses",
      { greet: "export const greet = () => {\n  return (1;\n};\n" },
      at("lib/greet.js:2:12", /token ';'/),
    ],
    [
      "a block that is not closed",
      { greet: "export const greet = () => {\n" },
      at("lib/greet.js:2", /end of input/),
    ],
    [
      "what no lexer of imports sees",
      { greet: "export const greet = () => 1;\nconst a = ;\n" },
      at("lib/greet.js:2:11", /token ';'/),
    ],
    [
      "a name that is declared twice",
      { greet: `${exported}const a = 1;\nconst a = 2;\n` },
      at("lib/greet.js:3:7", /already been declared/),
    ],
    [
      "an export twice",
      { greet: `${exported}export { greet };\n` },
      at("lib/greet.js:2:10", /Duplicate export/),
    ],
    [
      "await in a plain function",
      { greet: "export function greet() {\n  await 1;\n}\n" },
      at("lib/greet.js:2:3", /await|reserved word/),
    ],
    [
      "types in JavaScript",
      { greet: "export const greet = (a: string) => a;\n" },
      at("lib/greet.js:1:24", /token ':'|argument list/),
    ],
    ["JSX", { greet: "export const greet = () => <b>Hello</b>;\n" }, at("lib/greet.js:1:28", /token '<'/)],
    [
      "a string over two lines",
      { greet: "export const greet = () => 'Hello\n';\n" },
      at("lib/greet.js:1:28", /token/),
    ],
    ["a merge conflict", { greet: `<<<<<<< HEAD\n${exported}` }, at("lib/greet.js:1:1", /token '<<'/)],
    [
      "a regular expression",
      { greet: `${exported}const a = /(/;\n` },
      at("lib/greet.js:2:11", /regular expression/),
    ],
    [
      "CommonJS",
      cjs("exports.greet = () => {\n  const a = [1 2];\n};\n"),
      at("lib/greet.cjs:2:16", /number/),
    ],
    [
      "CommonJS that closes its wrapper",
      cjs("exports.greet = 1;\n}); (function () {\n"),
      at("lib/greet.cjs:2:1", /token '}'/),
    ],
    ["await at the top of CommonJS", cjs("exports.greet = 1;\nawait 1;\n"), at("lib/greet.cjs:2:1", /await/)],
    [
      "a module behind the first",
      { greet: `import "./a.js";\n${exported}`, files: { "lib/a.js": "let = ;" } },
      at("lib/a.js:1:1", /let|reserved word/),
    ],
    [
      "the script of a server",
      { server: { script: "./server.js" }, files: { "server.js": "\nrun(;" } },
      at("server.js:2:5", /token ';'/),
    ],
    [
      "a module without type, by its import",
      { greet: 'import "node:fs";\nexport const greet = (;\n', fields: { type: undefined } },
      at("lib/greet.js:2:23", /token ';'/),
    ],
    [
      "a module without type, by its require",
      { greet: 'require("node:fs");\nexports.greet = (;\n', fields: { type: undefined } },
      at("lib/greet.js:2:18", /token ';'/),
    ],
  ])("UnparsableModule is reported for %s", (_what, change, expected) => expectOne(change, expected));

  test.each<[string, Change]>([
    ["a program with a hashbang", { greet: `#!/usr/bin/env node\n${exported}` }],
    ["CommonJS with a hashbang", cjs("#!/usr/bin/env node\nexports.greet = 1;\n")],
    ["a return at the top of CommonJS", cjs("exports.greet = 1;\nif (exports.greet) return;\n")],
    ["await at the top of an ES module", { greet: `${exported}await 1;\n` }],
    [
      "an import with attributes",
      { greet: `import a from "./a.json" with { type: "json" };\n${exported}`, files: { "lib/a.json": {} } },
    ],
    ["sloppy CommonJS", cjs("exports.greet = 010;\nwith (exports) {}\n")],
    [
      "await at the top of a module without type",
      { greet: "exports.greet = 1;\n", fields: { type: undefined }, files: { "lib/a.js": "await 1" } },
    ],
    ["a module that nothing imports", { files: { "test/broken.js": "(" } }],
    ["a module that runs, and would throw", { greet: `${exported}throw new Error("must not run");\n` }],
  ])("UnparsableModule is not reported for %s", (_what, change) => expectNone(change));
});

describe("WrongModuleFormat", () => {
  const at = (place: string, readAs: "esm" | "commonjs", isMixed = false): Expected => [
    "WrongModuleFormat",
    "error",
    place,
    { file: place.replace(/:.*/, ""), readAs, isMixed },
  ];
  test.each<[string, Change, Expected]>([
    [
      "module.exports",
      { greet: "const greet = 1;\nmodule.exports = { greet };\n" },
      at("lib/greet.js:2:1", "esm"),
    ],
    ["module.exports.x", { greet: "module.exports.greet = () => 1;\n" }, at("lib/greet.js:1:1", "esm")],
    [
      "await at the top of CommonJS without type",
      { greet: "const one = await 1;\nexports.greet = () => one;\n", fields: { type: undefined } },
      at("lib/greet.js:2:1", "esm", true),
    ],
    ["exports.x", { greet: "  exports.greet = () => 1;\n" }, at("lib/greet.js:1:3", "esm")],
    [
      "what a compiler makes of it",
      {
        greet:
          '"use strict";\nObject.defineProperty(exports, "__esModule", { value: true });\nexports.greet = 1;\n',
        fields: { type: "module" },
      },
      at("lib/greet.js:2:23", "esm"),
    ],
    [
      "require beside import",
      { greet: `import "node:fs";\nconst path = require("node:path");\n${exported}` },
      at("lib/greet.js:2:14", "esm", true),
    ],
    [
      "module.exports beside import",
      { greet: 'import "node:fs";\nmodule.exports = { greet: 1 };\n' },
      at("lib/greet.js:2:1", "esm", true),
    ],
    [
      "CommonJS in .mjs",
      {
        tool: { handler: "./lib/greet.mjs#greet" },
        files: { "lib/greet.mjs": "exports.greet = 1;" },
        fields: { type: undefined },
      },
      at("lib/greet.mjs:1:1", "esm"),
    ],
    [
      "CommonJS in a module that the handler imports",
      { greet: `import "./a.js";\n${exported}`, files: { "lib/a.js": "module.exports = 1;" } },
      at("lib/a.js:1:1", "esm"),
    ],
    [
      "CommonJS in a server",
      { server: { script: "./server.js" }, files: { "server.js": 'const fs = require("fs");' } },
      at("server.js:1:12", "esm"),
    ],
    [
      "both in a module without type",
      { greet: `${exported}module.exports = { greet };\n`, fields: { type: undefined } },
      at("lib/greet.js:2:1", "esm", true),
    ],
    [
      "export in .cjs",
      { tool: { handler: "./lib/greet.cjs#greet" }, files: { "lib/greet.cjs": `\n${exported}` } },
      at("lib/greet.cjs:2:1", "commonjs"),
    ],
    [
      "import in a package of CommonJS",
      { greet: `import "node:fs";\n${exported}`, fields: { type: "commonjs" } },
      at("lib/greet.js:1:1", "commonjs"),
    ],
    [
      "export below a package.json of CommonJS",
      { greet: exported, files: { "lib/package.json": { type: "commonjs" } } },
      at("lib/greet.js:1:1", "commonjs"),
    ],
    [
      "import.meta in a package of CommonJS",
      { greet: "exports.greet = () => import.meta.url;\n", fields: { type: "commonjs" } },
      at("lib/greet.js:1:30", "commonjs"),
    ],
  ])("WrongModuleFormat is reported for %s", (_what, change, expected) => expectOne(change, expected));

  test.each<[string, Change]>([
    ["ES syntax without type", { fields: { type: undefined } }],
    ["await at the top without type", { greet: `await 1;\n${exported}`, fields: { type: undefined } }],
    ["CommonJS without type", { greet: "exports.greet = 1;\n", fields: { type: undefined } }],
    ["CommonJS in a package of CommonJS", { greet: "exports.greet = 1;\n", fields: { type: "commonjs" } }],
    [
      "import() in CommonJS",
      { greet: 'exports.greet = () => import("node:fs");\n', fields: { type: "commonjs" } },
    ],
    [
      "createRequire",
      {
        greet: `import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);\nconst a = require("node:fs");\n${exported}`,
      },
    ],
    [
      "a default import with the name require",
      {
        greet: `import require from "./r.js";\nrequire("y");\n${exported}`,
        files: { "lib/r.js": "export default () => 1;" },
      },
    ],
    [
      "a namespace with the name module",
      {
        greet: `import * as module from "./r.js";\nmodule.exports.a = 1;\n${exported}`,
        files: { "lib/r.js": "export const exports = {};" },
      },
    ],
    [
      "require in another runtime",
      {
        greet: `const isBun = process.versions.bun;\nconst a = isBun ? require("bun:sqlite") : null;\n${exported}`,
      },
    ],
    [
      "require after a condition",
      { greet: `const isBun = false;\nisBun && require("bun:sqlite");\n${exported}` },
    ],
    ["a check beforehand", { greet: `if (typeof module !== "undefined") module.exports = {};\n${exported}` }],
    ["a function's own name", { greet: `export const greet = (module) => { module.exports = 1; };\n` }],
    ["a string and a comment", { greet: `// module.exports = 1\nconst a = "require('b')";\n${exported}` }],
    ["a property", { greet: `const box = { require() {} };\nbox.require("a");\n${exported}` }],
  ])("WrongModuleFormat is not reported for %s", (_what, change) => expectNone(change));
});

describe("imports of files outside the package", () => {
  const at = (place: string, what: string): Expected => [
    "DefinitionOutsidePackage",
    "error",
    place,
    { what },
  ];
  const lodashFile = { "node_modules/lodash/x.js": "export default 1;" };
  const byPath = "../node_modules/lodash/x.js";

  test.each<[string, Change, Expected]>([
    [
      "by a relative path",
      { greet: `${exported}import "../../shared/x.js";\n` },
      at("lib/greet.js:2:1", "../../shared/x.js"),
    ],
    [
      "by an absolute path",
      { greet: `import "/etc/x.js";\n${exported}` },
      at("lib/greet.js:1:1", "/etc/x.js"),
    ],
    [
      "by a file URL",
      { greet: `${exported}await import("file:///home/me/x.js");\n` },
      at("lib/greet.js:2:7", "file:///home/me/x.js"),
    ],
    [
      "of a file in node_modules",
      {
        greet: `import "${byPath}";\n${exported}`,
        files: lodashFile,
        fields: { dependencies: { lodash: "4" } },
      },
      at("lib/greet.js:1:1", byPath),
    ],
    [
      "from two modules that the handler imports",
      {
        greet: `import "./a.js";\nimport "./b.js";\n${exported}`,
        files: { "lib/a.js": 'import "../../x.js";', "lib/b.js": 'import "../../x.js";' },
      },
      at("lib/a.js:1:1", "../../x.js"),
    ],
    [
      "from a server's CommonJS module",
      { server: { script: "./server.cjs" }, files: { "server.cjs": 'require("../x");' } },
      at("server.cjs:1:1", "../x"),
    ],
  ])("DefinitionOutsidePackage is reported for an import %s", (_what, change, expected) =>
    expectOne(change, expected),
  );

  test("DefinitionOutsidePackage for an import by a path in node_modules has a hint to import by name", async () => {
    const [found] = await judge({ greet: `import "${byPath}";\n${exported}`, files: lodashFile });
    expect(found?.args.hint).toContain('"lodash"');
  });

  test.each<[string, Change]>([
    ["in a try block", { greet: `try { await import("../../x.js"); } catch {}\n${exported}` }],
    ["with a catch", { greet: 'export const greet = () => import("/x.js").catch(() => {});\n' }],
    ["in a private package", { greet: `import "../../x.js";\n${exported}`, fields: { private: true } }],
    [
      "of a bundled dependency",
      {
        greet: `import "${byPath}";\n${exported}`,
        files: { ...lodashFile, "node_modules/lodash/package.json": { name: "lodash", version: "4.0.0" } },
        fields: { dependencies: { lodash: "4" }, bundleDependencies: ["lodash"] },
      },
    ],
    ["whose path passes through a parent folder", { greet: `import "../lib/greet.js";\n${exported}` }],
    ["in a module that no item needs", { files: { "test/a.js": 'import "../../x.js";' } }],
    ["of a module of Node", { greet: `import "node:fs";\nimport "data:text/javascript,1";\n${exported}` }],
  ])("DefinitionOutsidePackage is not reported for an import %s", (_what, change) => expectNone(change));
});

describe("missing files that modules load", () => {
  const missing = (place: string, file: string, isProgram = false): Expected => [
    "HandlerNotFound",
    "error",
    place,
    { reason: expect.stringContaining(`"${file}"`), ...(isProgram ? { isProgram } : {}) },
  ];
  const atHandler = "trailblaze/tools/greet.json:10:3";
  const atScript = "trailblaze/servers/desk.json:2:3";
  test.each<[string, Change, Expected]>([
    [
      "a static import of a missing file",
      { greet: `import "./a.js";\n${exported}` },
      missing(atHandler, "lib/a.js"),
    ],
    [
      "a dynamic import of a missing file",
      { greet: 'export const greet = () => import("./a.js");\n' },
      missing(atHandler, "lib/a.js"),
    ],
    [
      "a require of a missing file",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": 'const a = require("./a");\nexports.greet = a;\n' },
      },
      missing(atHandler, "lib/a"),
    ],
    [
      "a missing file in `imports` of package.json",
      { greet: `import "#a";\n${exported}`, fields: { imports: { "#a": "./lib/a.js" } } },
      missing(atHandler, "lib/a.js"),
    ],
    [
      "a missing file that an imported module imports",
      { greet: `import "./a.js";\n${exported}`, files: { "lib/a.js": 'import "./b.js";' } },
      missing(atHandler, "lib/b.js"),
    ],
    [
      "a missing file that the module of `initialize` imports",
      {
        tool: { initialize: "./lib/setup.js" },
        files: { "lib/setup.js": 'import "./a.js";\nexport default () => {};' },
      },
      missing("trailblaze/tools/greet.json:11:3", "lib/a.js"),
    ],
    [
      "an import of missing JSON",
      { greet: `import a from "./a.json" with { type: "json" };\n${exported}` },
      missing(atHandler, "lib/a.json"),
    ],
    [
      "a static import of a folder",
      { greet: `import "./u";\n${exported}`, files: { "lib/u/index.js": "" } },
      missing(atHandler, "lib/u"),
    ],
    [
      "an http URL",
      { greet: `import "https://esm.sh/a";\n${exported}` },
      missing(atHandler, "https://esm.sh/a"),
    ],
    [
      "an unknown module of Node",
      { greet: `import "node:nope";\n${exported}` },
      missing(atHandler, "node:nope"),
    ],
    [
      "a missing file that a server's script imports",
      { server: { script: "./server.js" }, files: { "server.js": 'import "./lib/a.js";' } },
      missing(atScript, "lib/a.js", true),
    ],
    [
      "a missing file that a script imports that a server runs with node",
      { server: { command: "node", args: ["./server.js"] }, files: { "server.js": 'import "./lib/a.js";' } },
      missing("trailblaze/servers/desk.json:4:5", "lib/a.js", true),
    ],
  ])("HandlerNotFound is reported for %s", (_what, change, expected) => expectOne(change, expected));

  test.each<[string, Change]>([
    ["an import in a try block", { greet: `try { await import("./a.js"); } catch {}\n${exported}` }],
    ["an import with a catch", { greet: 'export const greet = () => import("./a.js").catch(() => {});\n' }],
    [
      "a require in a try block",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": 'try { require("./a"); } catch {}\nexports.greet = 1;\n' },
      },
    ],
    ["a module that only newer versions of Node have", { greet: `import "node:sqlite";\n${exported}` }],
    [
      "a module of Node with a slash in its name",
      { greet: `import "node:test/reporters";\nimport "node:fs/promises";\n${exported}` },
    ],
    [
      "an http URL in a try block",
      { greet: `try { await import("https://esm.sh/a"); } catch {}\n${exported}` },
    ],
    [
      "a require of a folder",
      {
        tool: { handler: "./lib/greet.cjs#greet" },
        files: { "lib/greet.cjs": 'require("./u");\nexports.greet = 1;\n', "lib/u/index.js": "" },
        fields: { type: "commonjs" },
      },
    ],
    ["an import of a computed path", { greet: "export const greet = (a) => import(`./${a}.js`);\n" }],
  ])("HandlerNotFound is not reported for %s", (_what, change) => expectNone(change));
});
