// What `inspect` says of names that lead nowhere.
import { describe, expect, test } from "vitest";
import { inspectItem, inspectPack } from "../../src/index.ts";
import { inspectSubject } from "../../src/inspection/inspect.ts";
import type { Kind } from "../../src/kinds.ts";
import { failureOf } from "../support/failure-of.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { greetTool, prompt } from "../validate/validate-tree.ts";

const tree = {
  "package.json": { name: "app", version: "1.0.0", dependencies: { "@rosa/tea": "1", plain: "1" } },
  "node_modules/plain/package.json": { name: "plain", version: "1.0.0" },
  "node_modules/torn/package.json": '{ "name": "torn", "trailblaze":',
  "node_modules/@rosa/tea/package.json": packManifest("@rosa/tea", {
    trailblaze: { tools: ["getSteepTime"], prompts: ["brew"] },
  }),
  "node_modules/@rosa/tea/trailblaze/tools/getSteepTime.json": greetTool("./x.js", {
    name: "tea_getSteepTime",
  }),
  "node_modules/@rosa/tea/trailblaze/prompts/brew.json": prompt("brew"),
};

const explain = (subject: string, kind?: Kind) =>
  failureOf(inspectSubject(subject, { cwd: makeTree(tree), kind }));

test("an advertised name is not the name of an item", async () => {
  expect(await explain("tea_getSteepTime", "tool")).toMatchObject({ code: "ToolNotFound" });
  expect(await explain("tea_getSteepTime", "prompt")).toMatchObject({ code: "PromptNotFound" });
  expect(await explain("plain")).toMatchObject({ code: "ExtensionNotFound" });
  expect(await explain("tea_other")).toMatchObject({ code: "PackNotInstalled" });
});

test("an unknown item's message names the kind only if one was given", async () => {
  const name = "rosa/tea/nothing";
  expect(await explain(name)).toMatchObject({ code: "ToolNotFound", args: { name, isAnyKind: true } });
  const { code, args } = await explain(name, "tool");
  expect([code, args]).toEqual(["ToolNotFound", { name, nearest: [], isAnyKind: false }]);
});

test.each(["torn", "torn/greet"])(
  "%s reports the unreadable package.json instead of a missing field",
  async (name) => {
    const problem = await explain(name);
    const args = { reason: expect.stringContaining("JSON") };
    expect(problem).toMatchObject({ code: "MalformedPackageJson", severity: "error", args });
  },
);

describe("names passed to the library", () => {
  test("inspecting a pack's name as an item, or the reverse, says what the name is", async () => {
    const cwd = makeTree(tree);
    await expect(inspectItem("rosa/tea", { cwd })).rejects.toMatchObject({
      code: "InvalidQualifiedName",
      problem: { args: { name: "rosa/tea", reason: expect.stringContaining("pack") } },
    });
    await expect(inspectPack("rosa/tea/brew", { cwd })).rejects.toMatchObject({
      code: "InvalidArguments",
      problem: { args: { reason: expect.stringMatching(/"rosa\/tea\/brew".*\bitem\b/) } },
    });
  });
});
