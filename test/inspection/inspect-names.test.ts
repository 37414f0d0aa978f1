// What `inspect` says of names that lead nowhere.
import { describe, expect, test } from "vitest";
import { inspectInstalledItem, inspectInstalledPack, inspectSubject } from "../../src/inspection/inspect.ts";
import type { Kind } from "../../src/kinds.ts";
import { TrailblazeError } from "../../src/problems/index.ts";
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

async function explain(subject: string, kind?: Kind) {
  const cwd = makeTree(tree);
  try {
    await inspectSubject(subject, { cwd, kind });
  } catch (error) {
    if (error instanceof TrailblazeError) return error.problem;
  }
  throw new Error("it led somewhere");
}

describe("a name by which models know a tool", () => {
  test.each([undefined, "tool"] as const)("leads to its item, kind %s", async (kind) => {
    const problem = await explain("tea_getSteepTime", kind);
    const args = { nearest: ["rosa/tea/getSteepTime"], advertises: "rosa/tea/getSteepTime" };
    expect(problem).toMatchObject({ code: "ToolNotFound", args });
  });

  test("is not looked for among other kinds, nor where a package has the name", async () => {
    expect(await explain("tea_getSteepTime", "prompt")).toMatchObject({ code: "PromptNotFound" });
    expect(await explain("plain")).toMatchObject({ code: "ExtensionNotFound" });
    expect(await explain("tea_other")).toMatchObject({ code: "PackNotInstalled" });
  });
});

test("without a kind, there is no item; with one, none of that kind", async () => {
  const name = "rosa/tea/nothing";
  expect(await explain(name)).toMatchObject({ code: "ToolNotFound", args: { name, isAnyKind: true } });
  const { code, args } = await explain(name, "tool");
  expect([code, args]).toEqual(["ToolNotFound", { name, nearest: [], isAnyKind: false }]);
});

test("of another kind, the option that asks for it is named", async () => {
  expect(await explain("rosa/tea/brew", "tool")).toMatchObject({
    code: "ToolNotFound",
    args: { name: "rosa/tea/brew", otherKind: "prompt" },
  });
});

test.each(["torn", "torn/greet"])(
  "a package.json that cannot be read is told, not the lack of a field: %s",
  async (name) => {
    const problem = await explain(name);
    const args = { reason: expect.stringContaining("JSON") };
    expect(problem).toMatchObject({ code: "MalformedPackageJson", severity: "error", args });
  },
);

describe("a library call", () => {
  test("for an item with the name of a pack, or for a pack with that of an item, says what is named", async () => {
    const cwd = makeTree(tree);
    await expect(inspectInstalledItem("rosa/tea", { cwd })).rejects.toMatchObject({
      code: "InvalidQualifiedName",
      problem: { args: { name: "rosa/tea", reason: expect.stringContaining("pack") } },
    });
    await expect(inspectInstalledPack("rosa/tea/brew", { cwd })).rejects.toMatchObject({
      code: "InvalidArguments",
      problem: { args: { reason: expect.stringMatching(/"rosa\/tea\/brew".*\bitem\b/) } },
    });
  });

  test("with something else than a text is refused, not broken", async () => {
    const cwd = makeTree(tree);
    for (const subject of [undefined, 5, { name: "plain" }] as unknown as string[]) {
      await expect(inspectInstalledPack(subject, { cwd })).rejects.toMatchObject({
        code: "InvalidArguments",
      });
      await expect(inspectInstalledItem(subject, { cwd })).rejects.toMatchObject({
        code: "InvalidArguments",
      });
    }
    const url = new URL("file:///tmp") as unknown as string;
    await expect(inspectInstalledPack("plain", { cwd: url })).rejects.toMatchObject({
      code: "InvalidArguments",
    });
  });
});
