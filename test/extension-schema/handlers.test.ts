import { describe, expect, test } from "vitest";
import { findHandlers, parseHandler } from "../../src/extension-schema/handlers.ts";
import type { DefinitionShape } from "../../src/extension-schema/index.ts";

const inCode = { $function: "f" };

const handlersOf = (shape: DefinitionShape | undefined, definition: Record<string, unknown> | null) =>
  findHandlers({ shape, definition }).map(({ handler, path }) => [path.join("."), handler]);

describe("handlers in definitions", () => {
  const complete = { city: "./c.js", country: inCode, fixed: ["a"], other: { $function: 1 } };
  const all = { handler: "./h.js", initialize: inCode, subscribe: "./s.js", complete };
  const completions = [
    ["complete.city", "./c.js"],
    ["complete.country", inCode],
  ];

  test.each<[DefinitionShape, unknown[]]>([
    [
      "tool",
      [
        ["handler", "./h.js"],
        ["initialize", inCode],
      ],
    ],
    ["prompt", [["handler", "./h.js"], ...completions]],
    ["resource", [["handler", "./h.js"], ["subscribe", "./s.js"], ...completions]],
    ["composedServer", [["initialize", inCode]]],
    ["toolsetList", []],
  ])("a definition of the shape %s has the handlers %j", (shape, handlers) => {
    expect(handlersOf(shape, all)).toEqual(handlers);
  });

  test("the entries of a bundle have handlers, except for references to tools", () => {
    const handlers = ["./a.js#run", "../b.js", "acme/jira/getIssue", inCode, undefined, 5];
    const entries = [...handlers.map((handler) => ({ handler })), "./c.js", null];
    expect(handlersOf("toolsBundle", { entries })).toEqual([
      ["entries.0.handler", "./a.js#run"],
      ["entries.1.handler", "../b.js"],
      ["entries.3.handler", inCode],
      ["entries.5.handler", 5],
    ]);
    expect(handlersOf("tool", { entries })).toEqual([]);
  });

  test("values of other types, and a definition that could not be read, have none", () => {
    expect(handlersOf("toolsBundle", { entries: "./a.js" })).toEqual([]);
    expect(handlersOf("prompt", { complete: ["./a.js"] })).toEqual([]);
    expect(handlersOf(undefined, all)).toEqual([]);
    expect(handlersOf("tool", null)).toEqual([]);
  });
});

describe("the place of a handler", () => {
  test.each([
    ["./lib/a.js#run", "lib/a.js", "run"],
    ["./a.js", "a.js", "default"],
    ["./a.js#b#c", "a.js", "b#c"],
    ["./lib/./a.js", "lib/a.js", "default"],
    ["./lib//a.js", "lib/a.js", "default"],
    ["./lib/../a.js", "a.js", "default"],
    ["././a.js", "a.js", "default"],
    [".//a.js", "a.js", "default"],
    ["./../a.js", "../a.js", "default"],
    ["../a.js", "../a.js", "default"],
    ["./.hidden/...js", ".hidden/...js", "default"],
  ])("%s is in the module %s and exported as %s", (handler, module, exportName) => {
    expect(parseHandler(handler)).toEqual({ module, exportName });
  });

  test.each([
    ["lib/a.js", /start with/],
    ["/lib/a.js", /start with/],
    ["#run", /start with/],
    ["", /start with/],
    ["./a.js#", /after "#"/],
    ["./", /folder/],
    ["./lib/", /folder/],
    ["./lib/..", /folder/],
    ["./.", /folder/],
    ["../", /folder/],
  ])("%s is refused with a reason", (handler, fault) => {
    expect(parseHandler(handler)).toEqual({ fault: expect.stringMatching(fault) });
  });
});
