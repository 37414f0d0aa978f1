import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { makeTree } from "../support/packs.ts";
import { evaluateCode, evaluateIn, evaluatePack, ways } from "./evaluate-pack.ts";

const limits = { wallMs: 20_000, packMs: 40_000 };

describe("a definition file that is code", () => {
  test("a file's default export is returned as data, with markers for functions", async () => {
    const code = `
      class Client { static connect() {} }
      const list = [1, -0, 1.5e300, "\\ud800 \\u2028", true, null, undefined];
      export default {
        name: "createIssue",
        list,
        again: list,
        missing: undefined,
        [Symbol("own")]: 1,
        bare: Object.assign(Object.create(null), { a: 1 }),
        handler: async function createIssue() {},
        initialize() {},
        arrow: [() => {}][0],
        Client,
        bound: (function inner() {}).bind(null),
      };`;
    const list = [1, 0, 1.5e300, "\ud800 \u2028", true, null, null];
    expect(await evaluateCode(code)).toEqual({
      value: {
        name: "createIssue",
        list,
        again: list,
        bare: { a: 1 },
        handler: { $function: "createIssue" },
        initialize: { $function: "initialize" },
        arrow: { $function: "anonymous" },
        Client: { $function: "Client" },
        bound: { $function: "bound inner" },
      },
    });
  });

  test("reserved keys are kept as data", async () => {
    const code = `export default { ["__proto__"]: { polluted: true }, constructor: 1, toJSON: 2, then: 3 };`;
    const result = await evaluateCode(code);
    const value = (result as { value: object }).value;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor", "toJSON", "then"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect("polluted" in value).toBe(false);
  });

  const data = (expression: string) => `export default ${expression};`;
  const reasons: readonly (readonly [file: string, code: string, result: object])[] = [
    [
      "cycle.mjs",
      data("(() => { const a = { b: [] }; a.b.push({ a }); return a; })()"),
      { reason: "it is not data: a cycle at a" },
    ],
    ["bigint.mjs", data("{ a: 1n }"), { reason: "it is not data: a bigint at a" }],
    ["map.mjs", data("{ a: new Map() }"), { reason: "it is not data: an object of the class Map at a" }],
    [
      "hostile-key.mjs",
      data("{ ['\\u001b[2J\\n' + 'k'.repeat(1e6)]: 1n }"),
      { reason: expect.stringMatching(/^it is not data: a bigint at .{1,200}$/) },
    ],
    [
      "deep.mjs",
      data("(() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a; })()"),
      { reason: "it is nested deeper than 200 levels" },
    ],
    ["nothing.mjs", "export const a = 1;", { reason: "it has no default export" }],
    ["error.mjs", "\nthrow new Error('no luck');", { reason: "it threw: no luck", line: 2, column: 7 }],
    [
      "hostile-message.mjs",
      "throw 'a\\u001b]0;title\\u0007\\u202e\\nb' + 'x'.repeat(1e6);",
      {
        reason: expect.stringMatching(
          /^it threw: a\\u\{001b\}\]0;title\\u\{0007\}\\u\{202e\} bx{150,170}… \(\d+ more characters\)$/,
        ),
      },
    ],
    [
      "syntax.mjs",
      "export default {\n  a: = 1,\n};",
      { reason: expect.stringContaining("Unexpected token '='"), line: 2, column: 6 },
    ],
    ["module.mjs", "\nmodule.exports = {};", { reason: expect.any(String), line: 2, column: 1 }],
    [
      "import.mjs",
      "import x from 'not-there'; export default x;",
      { reason: "it threw: Cannot find package 'not-there'", missingPackage: "not-there" },
    ],
    ["module.cjs", "export default {};", { reason: expect.stringContaining("'export'"), line: 1, column: 1 }],
  ];

  test("the reason is reported for a file that has no data", async () => {
    const files = Object.fromEntries(reasons.map(([file, code]) => [file, code]));
    const { results } = await evaluatePack(files, { limits });
    expect(results).toEqual(Object.fromEntries(reasons.map(([file, , result]) => [file, result])));
  });

  test("a file may be an ES module or a CommonJS module", async () => {
    const { results } = await evaluatePack({
      "a.mjs": "export default { a: import.meta.url.length > 0 };",
      "b.cjs": "module.exports = { b: typeof require };",
      "c.js": "export default { c: typeof require };",
      "compiled.cjs":
        "Object.defineProperty(exports, '__esModule', { value: true }); exports.default = { d: 1 };",
      "named.cjs": "Object.defineProperty(exports, '__esModule', { value: true }); exports.a = 1;",
    });
    expect(results).toEqual({
      "a.mjs": { value: { a: true } },
      "b.cjs": { value: { b: "function" } },
      "c.js": { value: { c: "undefined" } },
      "compiled.cjs": { value: { d: 1 } },
      "named.cjs": { reason: "it has no default export" },
    });
  });
});

describe.each(ways)("evaluated with $way", ({ hasNetwork }) => {
  const options = { hasNetwork, limits };

  test("the result reports the confinement", async () => {
    const { confinement } = await evaluatePack({ "a.mjs": "export default 1;" }, options);
    expect(confinement).toBe(hasNetwork ? "permission" : "permission+netns");
  });

  test("a file gets an empty environment and its own temporary folder", async () => {
    vi.stubEnv("TRAILBLAZE_TEST_SECRET", "hunter2");
    vi.stubEnv("NODE_OPTIONS", "--allow-fs-write=* --allow-child-process");
    const code = `
      import { readdirSync } from "node:fs";
      import { homedir, tmpdir } from "node:os";
      export default { env: Object.keys(process.env), cwd: process.cwd(), tmpdir: tmpdir(), homedir: typeof homedir(),
        argv: process.argv.length, mayWrite: process.permission.has("fs.write"), mayStart: process.permission.has("child") };`;
    const { results } = await evaluatePack({ "a.mjs": code }, options);
    const { value } = results["a.mjs"] as { value: Record<string, unknown> };
    expect(value).toEqual({
      env: [],
      cwd: expect.stringContaining("trailblaze-confined-"),
      tmpdir: value.cwd,
      homedir: "string",
      argv: 2,
      mayWrite: false,
      mayStart: false,
    });
  });

  test("a file can import dependencies that npm hoisted", async () => {
    const root = makeTree({
      "node_modules/@acme/pack/package.json": {
        name: "@acme/pack",
        type: "module",
        dependencies: { zod: "4" },
      },
      "node_modules/@acme/pack/tool.js": "import { z } from 'zod'; export default { z };",
      "node_modules/@acme/pack/other.js":
        "import own from 'own'; import lib from './lib/index.cjs'; export default { own, lib };",
      "node_modules/@acme/pack/lib/index.cjs": "module.exports = require('zod').z;",
      "node_modules/@acme/pack/node_modules/own/package.json": { name: "own", main: "main.js" },
      "node_modules/@acme/pack/node_modules/own/main.js": "module.exports = 'nested';",
      "node_modules/zod/package.json": {
        name: "zod",
        type: "module",
        exports: { import: "./z.js", require: "./z.cjs" },
      },
      "node_modules/zod/z.js": "export const z = 'zod';",
      "node_modules/zod/z.cjs": "exports.z = 'zod, required';",
    });
    const { results } = await evaluateIn(
      join(root, "node_modules/@acme/pack"),
      ["tool.js", "other.js"],
      options,
    );
    expect(results).toEqual({
      "tool.js": { value: { z: "zod" } },
      "other.js": { value: { own: "nested", lib: "zod, required" } },
    });
  });

  /** An isolated install as pnpm makes it, its store in the given folder of the project. */
  function isolatedInstall(store: string): string {
    const unit = (name: string) => `${store}/${name.replace("/", "+")}@1.0.0/node_modules`;
    const root = makeTree({
      "project/package.json": { name: "project" },
      [`${unit("@acme/pack")}/@acme/pack/package.json`]: {
        name: "@acme/pack",
        type: "module",
        dependencies: { dep: "1" },
      },
      [`${unit("@acme/pack")}/@acme/pack/tool.js`]: "import dep from 'dep'; export default { dep };",
      [`${unit("dep")}/dep/package.json`]: { name: "dep", type: "module", peerDependencies: { deeper: "1" } },
      [`${unit("dep")}/dep/index.js`]: "import deeper from 'deeper'; export default ['dep', deeper];",
      [`${unit("deeper")}/deeper/package.json`]: { name: "deeper" },
      [`${unit("deeper")}/deeper/index.js`]: "module.exports = 'deeper';",
    });
    const link = (target: string, path: string) => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      symlinkSync(join(root, target), join(root, path));
    };
    link(`${unit("@acme/pack")}/@acme/pack`, "project/node_modules/@acme/pack");
    link(`${unit("dep")}/dep`, `${unit("@acme/pack")}/dep`);
    link(`${unit("deeper")}/deeper`, `${unit("dep")}/deeper`);
    return join(root, "project/node_modules/@acme/pack");
  }

  test("a file can import dependencies from an isolated store, through a linked root", async () => {
    const { results } = await evaluateIn(isolatedInstall("project/node_modules/.pnpm"), ["tool.js"], options);
    expect(results).toEqual({ "tool.js": { value: { dep: ["dep", "deeper"] } } });
  });

  test("a file can import another workspace member and what that depends on", async () => {
    const root = makeTree({
      "package.json": { name: "root", workspaces: ["packages/*"] },
      "packages/pack/package.json": { name: "pack", type: "module", dependencies: { "@acme/lib": "*" } },
      "packages/pack/tool.js": "import lib from '@acme/lib'; export default { lib };",
      "packages/lib/package.json": {
        name: "@acme/lib",
        type: "module",
        dependencies: { dep: "1", flat: "1" },
      },
      "packages/lib/index.js":
        "import dep from 'dep'; import flat from 'flat'; export default ['lib', dep, flat];",
      "packages/lib/node_modules/dep/index.js": "module.exports = 'dep';",
      "node_modules/flat/index.js": "module.exports = 'flat';",
      "node_modules/@acme/keep": "",
    });
    symlinkSync("../../packages/lib", join(root, "node_modules/@acme/lib"));
    const { results } = await evaluateIn(join(root, "packages/pack"), ["tool.js"], options);
    expect(results).toEqual({ "tool.js": { value: { lib: ["lib", "dep", "flat"] } } });
  });
});

test("a pack in a folder with * in its path is rejected, because Node would read it as a wildcard", async () => {
  const root = makeTree({ "a*/tool.mjs": "export default 1;" });
  const { results } = await evaluateIn(join(root, "a*"));
  expect(results).toEqual({ "tool.mjs": { reason: "its path contains a *" } });
});
