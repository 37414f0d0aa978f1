import { describe, expect, test } from "vitest";
import { findMisnamedKey, suggestKey } from "../../src/extension-schema/suggest-key.ts";

describe("a misspelled key", () => {
  const keys = [
    "name",
    "title",
    "description",
    "options",
    "metadata",
    "handler",
    "initialize",
    "arguments",
    "parameters",
    "annotations",
  ];
  const others = ["outputSchema", "_meta", "readOnlyHint", "destructiveHint", "uri", "argumentsSchema"];

  test.each([
    ["outputschema", "outputSchema"],
    ["OUTPUT-SCHEMA", "outputSchema"],
    ["output_schemas", "outputSchema"],
    ["meta", "_meta"],
    ["titles", "title"],
    ["uris", "uri"],
    ["option", "options"],
    ["argument", "arguments"],
    ["nam", "name"],
    ["hander", "handler"],
    ["titel", "title"],
    ["ahndler", "handler"],
    ["initialise", "initialize"],
    ["descripshn", "description"],
    ["argamantz", "arguments"],
    ["desc", "description"],
    ["params", "parameters"],
    ["annotatons", "annotations"],
    ["reads", "readOnlyHint"],
    ["destructive", "destructiveHint"],
    [`${"_".repeat(28)}outputSchema`, "outputSchema"],
  ])("%s is corrected to %s", (written, key) => {
    expect(suggestKey(written, [...others, ...keys])).toBe(key);
    expect(suggestKey(written, [...keys, ...others])).toBe(key);
  });

  test.each([
    "id",
    "url",
    "tit",
    "inis",
    "type",
    "data",
    "note",
    "naem",
    "bundler",
    "metedeto",
    "argemantz0",
    "hint",
  ])("%s is not corrected, because it may be a word of its own", (written) => {
    expect(suggestKey(written, [...keys, ...others])).toBeUndefined();
  });

  test("a key of more than 40 characters is not compared", () => {
    expect(suggestKey(`${"_".repeat(29)}outputSchema`, ["outputSchema"])).toBeUndefined();
  });

  test.each([
    ["tool", ["tools", "tool"], "tool"],
    ["inputz", ["inpatx", "inputs"], "inputs"],
    ["argument", ["argumentsSchema", "arguments"], "arguments"],
  ])("of several keys, %s is corrected to the most similar one", (written, keys, key) => {
    expect(suggestKey(written, keys)).toBe(key);
    expect(suggestKey(written, keys.toReversed())).toBe(key);
  });
});

describe("a missing key", () => {
  test.each([
    ["name", "id"],
    ["handler", "execute run fn func function callback call invoke implementation"],
    ["inputSchema", "schema input inputs args arguments arguments_schema"],
    ["uri", "url URL href address"],
    ["uriTemplate", "template urlTemplate"],
    ["text", "content contents body"],
    ["file", "path fileName"],
    ["content", "messages message text prompt body template"],
    ["entries", "tools items"],
    ["tools", "items"],
    ["command", "cmd exec executable"],
    ["script", "main module entry entryPoint file path"],
  ])("`%s` is found in the words that other programs use for it: %s", (key, words) => {
    for (const written of words.split(" ")) {
      expect(findMisnamedKey([key], ["description", written])).toEqual({ key, written });
    }
  });

  test("a misspelled key precedes other words for it", () => {
    expect(findMisnamedKey(["handler"], ["run", "hander"])).toEqual({ key: "handler", written: "hander" });
  });

  test("the first of several missing keys is found", () => {
    expect(findMisnamedKey(["name", "handler"], ["run", "id"])).toEqual({ key: "name", written: "id" });
    expect(findMisnamedKey(["parameters", "handler"], ["run"])).toEqual({ key: "handler", written: "run" });
  });

  test("nothing is found among other words", () => {
    expect(findMisnamedKey(["name", "handler"], ["author", "x"])).toBeUndefined();
    expect(findMisnamedKey(["name"], [])).toBeUndefined();
  });
});
