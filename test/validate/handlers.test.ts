import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { argumentTexts } from "../support/argument-texts.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import type { Tree } from "../support/tree.ts";
import {
  greetTool,
  makeInstalled,
  makePack,
  type PackTree,
  prompt,
  validateFolder,
  validateTree,
} from "./validate-tree.ts";

const codes = ["HandlerNotFound", "HandlerUnchecked", "DefinitionOutsidePackage"];

function packWith(handler: unknown, files: Tree, fields: Record<string, unknown> = {}): PackTree {
  const definition = greetTool(handler);
  return {
    extension: { tools: ["greet"] },
    files: { "trailblaze/tools/greet.json": definition, ...files },
    fields,
  };
}

/** What is said of a handler: nothing, or the code and the reason. */
async function judge(handler: unknown, files: Tree, fields?: Record<string, unknown>): Promise<string> {
  const problems = await validateTree(packWith(handler, files, fields), codes);
  expect(problems.length).toBeLessThan(2);
  for (const problem of problems) {
    expect(problem).toMatchObject({ kind: "tool", item: "greet", path: ["handler"], column: 3 });
  }
  return problems.map(({ code, args }) => `${code}: ${argumentTexts(args)}`)[0] ?? "found";
}

const commonJs = { type: "commonjs" };

describe("handlers that exist", () => {
  test.each([
    ["export const greet = () => {}", "greet"],
    ["export default function () {}", undefined],
    ['export { other as greet } from "some-library";', "greet"],
    ["\uFEFF#!/usr/bin/env node\nexport const greet = 1;", "greet"],
    ['/* ` { */ const r = /[/"`]/; export { r as greet }', "greet"],
  ])("validate finds the handler that an ES module exports: %s", async (text, name) => {
    const handler = name === undefined ? "./lib/greet.js" : `./lib/greet.js#${name}`;
    expect(await judge(handler, { "lib/greet.js": text, "lib/other.js": "export {}" })).toBe("found");
  });

  test.each([
    ["exports.greet = () => {}", "greet"],
    ["module.exports = function greet() {}", undefined],
    ['Object.defineProperty(exports, "greet", { enumerable: true, value: 1 })', "greet"],
  ])("validate finds the handler that a CommonJS module exports: %s", async (text, name) => {
    const handler = name === undefined ? "./lib/greet.cjs" : `./lib/greet.cjs#${name}`;
    const files = {
      "lib/greet.cjs": text,
      "lib/package.json": commonJs,
    };
    expect(await judge(handler, files)).toBe("found");
  });

  test.skipIf(process.platform === "win32")(
    "validate finds a handler in a linked module, whose imports start at its real path",
    async () => {
      const files = {
        "real/greet.js": 'import "./part.js"; export const greet = 1',
        "real/part.js": "",
      };
      const folder = makePack(packWith("./lib/greet.js#greet", files));
      makeLink("../real/greet.js", join(folder, "lib/greet.js"));
      expect(await validateFolder(folder, codes)).toEqual([]);
    },
  );
});

describe("HandlerNotFound", () => {
  const module = { "lib/greet.js": "export const greet = 1, farewell = 2;" };

  test.each([
    ["./lib/greet.js#great", '"great"', "greet"],
    ["./lib/greet.js", "default", "greet farewell"],
    ["./lib/gret.js", '"lib/gret.js"', "./lib/greet.js"],
    ["./dist/greet.js", '"dist/greet.js"', "build"],
    ["./lib", "folder", ""],
    ["lib/greet.js#greet", '"./"', ""],
    ["./trailblaze/tools/greet.json", "Node", ""],
  ])("HandlerNotFound is reported for the handler %j", async (handler, reason, suggestion) => {
    const answer = await judge(handler, module);
    expect(answer).toMatch(/^HandlerNotFound: /);
    expect(answer).toContain(reason);
    expect(answer).toContain(suggestion);
  });

  test("HandlerNotFound is reported for TypeScript in an installed package", async () => {
    const cwd = makeInstalled(packWith("./greet.ts#greet", { "greet.ts": "export const greet = 1;" }));
    const found = await validateFolder("@acme/sample", codes, { cwd });
    expect(found.map(({ code }) => code)).toEqual(["HandlerNotFound"]);
    expect(found[0]?.args).toMatchObject({ reason: expect.stringContaining("TypeScript") });
  });
});

describe("HandlerUnchecked", () => {
  test.each([
    ["`export *` from a dependency", 'export * from "some-library"', "some-library"],
    ["`export *` from a module of the pack, which is not followed", 'export * from "./part.js"', "part.js"],
  ])("HandlerUnchecked is reported for %s", async (_what, text, reason) => {
    const answer = await judge("./lib/greet.js#greet", {
      "lib/greet.js": text,
      "lib/part.js": "export const greet = 1;",
    });
    expect(answer).toMatch(/^HandlerUnchecked: /);
    expect(answer).toContain(reason);
  });

  test("HandlerUnchecked is reported for a module above the size limit, with its size", async () => {
    const answer = await judge("./lib/greet.js#greet", {
      "lib/greet.js": new Uint8Array((16 << 20) + 1).fill(32),
    });
    expect(answer).toContain("HandlerUnchecked");
    expect(answer).toContain("16777217");
  });
});

describe("DefinitionOutsidePackage", () => {
  test.each(["../greet.js#greet", "./lib/../../greet.js", "./../greet.js"])(
    "DefinitionOutsidePackage is reported for the handler %s",
    async (handler) => {
      expect(await judge(handler, {})).toMatch(/^DefinitionOutsidePackage: /);
    },
  );

  test.skipIf(process.platform === "win32")(
    "DefinitionOutsidePackage is reported for a module behind a link out of the package",
    async () => {
      const outside = makeTree({ "greet.js": "export const greet = 1" });
      const folder = makePack(packWith("./lib/greet.js#greet", { "lib/other.js": "" }));
      symlinkSync(join(outside, "greet.js"), join(folder, "lib/greet.js"));
      const found = await validateFolder(folder, codes);
      expect(found.map(({ code }) => code)).toEqual(["DefinitionOutsidePackage"]);
    },
  );
});

describe("every place of a handler", () => {
  test("validate checks `handler` and `initialize` of every kind of item and of bundle entries", async () => {
    const missing = "./lib/missing.js";
    const problems = await validateTree(
      {
        extension: { servers: ["desk"], tools: ["greet"], toolsets: ["bundle"], prompts: ["hello"] },
        files: {
          "trailblaze/servers/desk.json": { tools: ["greet"], initialize: missing },
          "trailblaze/tools/greet.json": greetTool(missing, { initialize: missing }),
          "trailblaze/toolsets/bundle.json": {
            kind: "Mcp.Tools",
            metadata: { name: "bundle" },
            entries: [
              { name: "a", handler: missing },
              { name: "b", handler: "greet" },
            ],
          },
          "trailblaze/prompts/hello.json": prompt("hello", { handler: missing }),
          "lib/here.js": "",
        },
      },
      codes,
    );
    expect(problems.map(({ file, path }) => `${file} ${path?.join(".")}`)).toEqual([
      "trailblaze/servers/desk.json initialize",
      "trailblaze/tools/greet.json handler",
      "trailblaze/tools/greet.json initialize",
      "trailblaze/toolsets/bundle.json entries.0.handler",
      "trailblaze/prompts/hello.json handler",
    ]);
  });

  test.skipIf(process.platform === "win32")(
    "validate reports a pipe in place of a module without waiting for it",
    async () => {
      const folder = makePack(packWith("./lib/greet.js#greet", {}));
      makeFifo(join(folder, "lib/greet.js"));
      const [found] = await validateFolder(folder, codes);
      expect(found).toMatchObject({ args: { reason: expect.stringMatching(/\bpipe\b/) } });
    },
  );
});
