import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  describeWritten,
  readPointer,
  typeWords,
  valueAt,
  writePointer,
} from "../../src/extension-schema/pointer.ts";

describe("JSON pointers", () => {
  test.each([
    ["", []],
    ["/tools", ["tools"]],
    ["/tools/1/name", ["tools", 1, "name"]],
    ["/numbers/1/name", ["numbers", "1", "name"]],
    ["/", [""]],
    ["/a~1b/m~0n/~01", ["a/b", "m~n", "~1"]],
    ["/missing/0", ["missing", "0"]],
    ["/constructor/0", ["constructor", "0"]],
  ])("%j leads to the path %j, in which indexes of arrays are numbers", (pointer, path) => {
    const root = { tools: ["first", { name: "second" }], numbers: { 1: { name: "one" } } };
    expect(readPointer(pointer, root)).toEqual(path);
  });

  test.each([
    [[], ""],
    [["tools", 0], "/tools/0"],
    [["a/b", "m~n", "~1", ""], "/a~1b/m~0n/~01/"],
  ])("the path %j is written as %j", (path, pointer) => {
    expect(writePointer(path)).toBe(pointer);
  });

  test("a written path is read again", () => {
    const keys = fc.oneof(fc.nat(3), fc.string({ unit: fc.constantFrom("~", "0", "1", "/", "a") }));
    fc.assert(
      fc.property(fc.array(keys, { maxLength: 5 }), (path) => {
        const root = path.reduceRight<unknown>(
          (value, key) =>
            typeof key === "number" ? Array.from({ length: 4 }, () => value) : new Map([[key, value]]),
          "end",
        );
        const plain = JSON.parse(
          JSON.stringify(root, (_key, value) => (value instanceof Map ? Object.fromEntries(value) : value)),
        );
        expect(readPointer(writePointer(path), plain)).toEqual(path);
        expect(valueAt(plain, path)).toBe("end");
      }),
    );
  });
});

test.each<[unknown, (string | number)[], unknown]>([
  ["top", [], "top"],
  [{ a: [1, { b: null }] }, ["a", 1, "b"], null],
  [{ a: [1] }, ["a", "0"], 1],
  [{ a: [1] }, ["a", 1], undefined],
  [{ a: null }, ["a", "b"], undefined],
  [{ a: "text" }, ["a", "length"], undefined],
  [{}, ["constructor"], undefined],
  [JSON.parse('{"__proto__": 1}'), ["__proto__"], 1],
  [undefined, ["a"], undefined],
])("in %j, the value at %j is %j", (root, path, value) => {
  expect(valueAt(root, path)).toBe(value);
});

test.each([
  [undefined, "missing"],
  [null, "null"],
  [[], "an array"],
  [{}, "an object"],
  [{ $function: "run" }, "a function"],
  [{ $function: 1 }, "an object"],
  ["", "an empty string"],
  [" \n", "an empty string"],
  ["x", "a string"],
  [true, "true"],
  [false, "false"],
  [1, "a number"],
])("the value %j is described as %s", (value, words) => {
  expect(describeWritten(value)).toBe(words);
});

test("types are described as their values are", () => {
  const samples = { object: {}, array: [], string: "x", number: 1 };
  for (const [type, value] of Object.entries(samples)) expect(typeWords[type]).toBe(describeWritten(value));
  expect(typeWords.boolean).toBe("a boolean");
});
