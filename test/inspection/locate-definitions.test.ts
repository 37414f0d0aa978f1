import { describe, expect, test } from "vitest";
import { inspectPack } from "../../src/index.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makePack, prompt, validateTree } from "../validate/validate-tree.ts";

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

  test("problems name files by normalized paths", async () => {
    const tree = {
      extension: { root, prompts: ["hello", "missing"], tools: ["lost"] },
      files: {
        [`${folder}prompts/hello.json`]: prompt("hello", {}),
        [`${folder}prompts/orphan.json`]: prompt("orphan"),
        [`${folder}prompts.yaml`]: "hello: { name: hello, content: Hi }\n",
      },
      fields: { files: ["lib"] },
    };
    const problems = await validateTree(tree);
    expect(new Set(problems.map(({ code, file }) => `${code} ${file}`))).toEqual(
      new Set([
        `InvalidPromptDefinition ${folder}prompts/hello.json`,
        `OrphanDefinitionFile ${folder}prompts/orphan.json`,
        `MissingDefinitionFile ${folder}prompts.yaml`,
        `MissingDefinitionFile ${folder}tools/lost.json`,
        `ShadowedDefinition ${folder}prompts.yaml`,
        `FileNotPublished ${folder}prompts/hello.json`,
        `FileNotPublished ${folder}prompts.yaml`,
      ]),
    );
    const texts = problems.map(({ message, hint }) => `${message} ${hint}`).join("\n");
    expect(texts).not.toMatch(/"\.\/|\/\/|"\//);
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
