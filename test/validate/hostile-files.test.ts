import { mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { argumentTexts } from "../support/argument-texts.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import { greetTool, makePack, prompt, validateTree } from "./validate-tree.ts";

const onPosix = test.skipIf(process.platform === "win32");

describe("hostile definition files", () => {
  onPosix("validate reports every unusable definition file in one run, and nothing else", async () => {
    const outside = makeTree({ "secret.json": prompt("secret") });
    const names = ["pipe", "sparse", "outside", "folder", "circle", "dangling", "device", "well"];
    const folder = makePack({
      extension: { prompts: names },
      files: { "trailblaze/prompts/well.json": prompt("well"), "trailblaze/prompts/sparse.json": "" },
    });
    const at = (name: string) => join(folder, "trailblaze/prompts", `${name}.json`);
    makeFifo(at("pipe"));
    truncateSync(at("sparse"), 8 * 2 ** 30);
    makeLink(join(outside, "secret.json"), at("outside"));
    mkdirSync(at("folder"));
    makeLink("circle.json", at("circle"));
    makeLink("nowhere.json", at("dangling"));
    makeLink("/dev/zero", at("device"));
    const { problems, prompts } = await validateExtension(folder);
    expect(prompts).toEqual(names);
    const byItem = Object.fromEntries(
      problems.map(({ item, code, args }) => [item, `${code}: ${argumentTexts(args)}`]),
    );
    expect(byItem).toEqual({
      pipe: expect.stringMatching(/^InvalidDefinitionContents: .*\bpipe/),
      sparse: expect.stringMatching(/^DefinitionTooLarge: .*\b8589934592\b/),
      outside: expect.stringMatching(/^DefinitionOutsidePackage: /),
      folder: expect.stringMatching(/^MissingDefinitionFile: /),
      circle: expect.stringMatching(/^InvalidDefinitionContents: /),
      dangling: expect.stringMatching(/^MissingDefinitionFile: /),
      device: expect.stringMatching(/^(?:InvalidDefinitionContents|DefinitionOutsidePackage): /),
    });
  });

  onPosix(
    "DefinitionOutsidePackage is reported for a folder of definitions that links out of the package",
    async () => {
      const outside = makeTree({ "prompts/hello.json": prompt("hello") });
      for (const [link, target] of [
        ["trailblaze/prompts", join(outside, "prompts")],
        ["trailblaze", outside],
      ] as const) {
        const folder = makePack({ extension: { prompts: ["hello"] }, files: {} });
        makeLink(target, join(folder, link));
        const { problems } = await validateExtension(folder);
        expect(problems.map(({ code }) => code)).toEqual(["DefinitionOutsidePackage"]);
      }
    },
  );
});

describe("hostile modules", () => {
  const nestings: [string, string, string][] = [
    ["(", "1", ")"],
    ["`${", "1", "}`"],
    ["a =", "1", ""],
    ["a => ", "1", ""],
    ["() => { if (a) {} else ", "a", " }"],
  ];
  const checkModule = (code: string) =>
    validateTree({
      extension: { tools: ["greet"] },
      files: {
        "lib/greet.mjs": code,
        "trailblaze/tools/greet.json": greetTool("./lib/greet.mjs"),
      },
    });

  test("code that is nested as people do is checked, and code that is nested too deeply is not", async () => {
    for (const [open, inside, close] of nestings) {
      const judge = async (levels: number) => {
        const code = `export const a = ${open.repeat(levels)}${inside}${close.repeat(levels)};`;
        return (await checkModule(code)).map(({ code }) => code);
      };
      expect([open, await judge(60), await judge(20_000)]).toEqual([
        open,
        ["HandlerNotFound"],
        ["HandlerUnchecked"],
      ]);
    }
  });

  test("twenty thousand names in one scope are checked", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `const a${index} = 1;`);
    expect(await checkModule(names.join("\n"))).toMatchObject([{ code: "HandlerNotFound" }]);
  }, 60_000);
});
