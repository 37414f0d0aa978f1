import { describe, expect, test } from "vitest";
import { loadWhenUsed } from "../../scripts/load-when-used.ts";

/** Runs a file as the bundler writes it, transformed. Returns what it exports, and what it has loaded so far. */
function run(code: string) {
  const loaded: string[] = [];
  const modules: Readonly<Record<string, unknown>> = {
    "node:os": { hostname: () => "here" },
    "node:fs": { constants: { O_NOFOLLOW: 1 } },
    "./list.cjs": { count: () => 2, rest: ["b", "c"], List: class List {} },
    "./runtime.cjs": { toESM: (module: object) => ({ ...module, default: module }) },
  };
  const load = (id: string) => {
    loaded.push(id);
    return modules[id];
  };
  const exported: Record<string, (...args: never[]) => unknown> = {};
  new Function("require", "exports", loadWhenUsed().renderChunk(code))(load, exported);
  return { exported, loaded };
}

describe("a file of the command", () => {
  test("is loaded when it is first used, and only once", () => {
    const { exported, loaded } = run(`const require_list = require("./list.cjs");
exports.count = () => (0, require_list.count)() + require_list.count();`);
    expect(loaded).toEqual([]);
    expect(exported.count?.()).toBe(4);
    expect(exported.count?.()).toBe(4);
    expect(loaded).toEqual(["./list.cjs"]);
  });

  test("may be constructed and spread from", () => {
    const { exported } = run(`const require_list = require('./list.cjs');
exports.make = () => new require_list.List();
exports.all = () => ["a", ...require_list.rest];`);
    expect(exported.make?.()).toEqual({});
    expect(exported.all?.()).toEqual(["a", "b", "c"]);
  });

  test("keeps properties that are named like an import", () => {
    const { exported, loaded } = run(`const require_list = require("./list.cjs");
exports.own = (held = { ["require_" + "list"]: 3 }) => held.require_list;`);
    expect(exported.own?.()).toBe(3);
    expect(loaded).toEqual([]);
  });

  test("cannot be used as a whole", () => {
    const code = `const require_list = require("./list.cjs");\nmodule.exports = require_list;`;
    expect(() => loadWhenUsed().renderChunk(code)).toThrow("require_list is used as a whole");
  });
});

test("a module of Node is loaded when it is first used, unless Node loads it itself", () => {
  const { exported, loaded } = run(`let node_os = require("node:os");
let node_fs = require("node:fs");
exports.host = () => (0, node_os.hostname)();
exports.flag = () => node_fs.constants.O_NOFOLLOW;`);
  expect(loaded).toEqual(["node:fs"]);
  expect(exported.host?.()).toBe("here");
  expect(exported.flag?.()).toBe(1);
  expect(loaded).toEqual(["node:fs", "node:os"]);
});

test("the default export of a module of Node is loaded when it is first used", () => {
  const { exported, loaded } = run(`const require_runtime = require("./runtime.cjs");
let node_os = require("node:os");
node_os = require_runtime.toESM(node_os, 1);
exports.host = () => node_os.default.hostname();`);
  expect(loaded).toEqual([]);
  expect(exported.host?.()).toBe("here");
  expect(loaded).toEqual(["./runtime.cjs", "node:os"]);
});

test("the default export of a module that Node loads itself stays", () => {
  const { exported } = run(`const require_runtime = require("./runtime.cjs");
let node_fs = require("node:fs");
node_fs = require_runtime.toESM(node_fs, 1);
exports.flag = () => node_fs.default.constants.O_NOFOLLOW;`);
  expect(exported.flag?.()).toBe(1);
});

test("functions, classes and constants are exported by assignment, and what can change later is not", () => {
  const exportOf = (name: string) => `Object.defineProperty(exports, '${name}', {
  enumerable: true,
  get: function () {
    return ${name};
  }
});`;
  const code = `function one() {}\nclass Two {}\nlet three = 1;\n${["one", "Two", "three"].map(exportOf).join("\n")}
exports.set = (value) => { three = value; };`;
  const { exported } = run(code);
  exported.set?.(3 as never);
  expect(exported).toMatchObject({ one: expect.any(Function), Two: expect.any(Function), three: 3 });
  expect(
    loadWhenUsed()
      .renderChunk(code)
      .match(/defineProperty/g),
  ).toHaveLength(1);
});
