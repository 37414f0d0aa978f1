import { describe, expect, test } from "vitest";
import { inspectPack } from "../../src/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makePack, prompt } from "../validate/validate-tree.ts";

/** The root as it is written, and what the paths of definitions begin with then. */
const roots: readonly (readonly [string, string])[] = [
  [".", ""],
  ["mcp", "mcp/"],
  [".\\mcp\\files", "mcp/files/"],
];

describe.each(roots)("below the root %j", (root, folder) => {
  const makeFolder = () =>
    makePack({
      extension: { root, prompts: ["hello", "bye", "missing"] },
      files: {
        [`${folder}prompts/hello.json`]: prompt("hello"),
        [`${folder}prompts.yaml`]: "bye: { name: bye, description: Bye., content: Bye }\n",
      },
    });

  test("definitions have normalized paths", async () => {
    const { prompts } = await inspectPack("@acme/sample", { cwd: makeFolder() });
    expect(prompts.map(({ file }) => file)).toEqual([
      `${folder}prompts/hello.json`,
      `${folder}prompts.yaml`,
      `${folder}prompts.yaml`,
    ]);
  });
});

test("a TypeScript definition in an installed pack must be built", async () => {
  const project = makeTree({
    "package.json": packManifest("app", { dependencies: { "@acme/sample": "1" } }),
    "node_modules/@acme/sample/package.json": packManifest("@acme/sample", {
      trailblaze: { prompts: ["hello"] },
    }),
    "node_modules/@acme/sample/trailblaze/prompts/hello.ts": "export default {};\n",
  });

  const { problems } = await inspectPack("@acme/sample", { cwd: project });
  expect(problems).toMatchObject([
    { code: "UnsupportedDefinitionFormat", args: { cause: "installedTypeScript" } },
  ]);
});

test.each(["..", "/", "C:\\mcp"])("DefinitionOutsidePackage is reported for the root %j", async (root) => {
  const { problems } = await validateExtension(makePack({ extension: { root }, files: {} }));
  expect(problems).toMatchObject([{ code: "DefinitionOutsidePackage", path: ["root"] }]);
});
