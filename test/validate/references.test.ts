import { describe, expect, test } from "vitest";
import type { Problem } from "../../src/problems/index.ts";
import { packManifest } from "../support/packs.ts";
import { greetTool, type PackTree, prompt, summarize, toolset, validateTree } from "./validate-tree.ts";

const codes = ["InvalidReference", "UnknownBuiltIn", "PackNotInstalled", "PackVersionMismatch"];

/** A pack with one tool, two toolsets, a prompt, and a server that refers to what is given. */
function packWith(server: Record<string, unknown>, more: Partial<PackTree> = {}): PackTree {
  const toolsets = ["welcoming", "greetings"];
  return {
    extension: { servers: ["desk"], tools: ["greet"], toolsets, prompts: ["hello"] },
    files: {
      "trailblaze/servers/desk.json": server,
      "trailblaze/tools/greet.json": greetTool("./lib/greet.js"),
      "trailblaze/toolsets/welcoming.json": toolset("welcoming", { tools: ["greet"] }),
      "trailblaze/toolsets/greetings.json": {
        kind: "Mcp.Tools",
        metadata: { name: "greetings" },
        entries: [{ name: "hello_all", description: "Greet all.", handler: "greet" }],
      },
      "trailblaze/prompts/hello.json": prompt("hello"),
      "lib/greet.js": "export default () => {};",
      ...more.files,
    },
    ...(more.fields ? { fields: more.fields } : {}),
  };
}

const installed = (name: string, fields: Record<string, unknown> = {}) => ({
  [`node_modules/${name}/package.json`]: packManifest(name, fields),
});

async function findProblems(
  server: Record<string, unknown>,
  more?: Partial<PackTree>,
  builtIns: string[] = [],
) {
  return validateTree(packWith(server, more), codes, { builtIns });
}

const first = ([problem]: readonly Problem[]) => problem;

describe("references that resolve", () => {
  test.each(["acme/sample/greet", "@acme/sample/greet", "acme/sample@^1/greet"])(
    "validate accepts the qualified name of the pack's own item: %s",
    async (reference) => {
      expect(await findProblems({ tools: [reference] })).toEqual([]);
    },
  );

  test("validate accepts a built-in that the caller names", async () => {
    expect(await findProblems({ tools: ["takeScreenshot"] }, {}, ["takeScreenshot"])).toEqual([]);
  });

  test("validate accepts an item of an installed pack, with a range that its version satisfies", async () => {
    const files = installed("@globex/text", { version: "1.4.0", trailblaze: { tools: ["slugify"] } });
    const fields = { dependencies: { "@globex/text": "^1.0.0" } };
    const server = { tools: ["globex/text/slugify", "globex/text@^1.2/slugify"] };
    expect(await findProblems(server, { files, fields })).toEqual([]);
  });
});

describe("InvalidReference", () => {
  test.each([
    ["an unknown short name of a toolset", { toolsets: ["welcomeing"] }, /welcomeing/, "welcoming"],
    ["an unknown short name of a prompt", { prompts: ["helo"] }, /helo/, "hello"],
    ["an item of the wrong kind", { tools: ["welcoming"] }, /toolset/, "`toolsets`"],
    ["a name that cannot be one", { tools: ["gr eet"] }, /gr eet/, undefined],
    ["an own item that is missing", { tools: ["acme/sample/great"] }, /great/, "acme/sample/greet"],
  ])("validate reports InvalidReference for %s", async (_what, server, reason, suggestion) => {
    const problems = await findProblems(server);
    const [key = ""] = Object.keys(server);
    expect(problems.map(summarize)).toEqual([`InvalidReference trailblaze/servers/desk.json ${key}.0`]);
    expect(first(problems)).toMatchObject({ severity: "error", kind: "server", item: "desk", column: 5 });
    const [[reference = ""] = []] = Object.values(server);
    expect(first(problems)?.args).toMatchObject({ reference, reason: expect.stringMatching(reason) });
    if (suggestion !== undefined)
      expect(first(problems)?.args).toMatchObject({ hint: expect.stringContaining(suggestion) });
  });

  test("validate reports a missing item of another pack as InvalidReference", async () => {
    const files = installed("@globex/text", { trailblaze: { tools: ["slugify"], prompts: ["review"] } });
    const server = { tools: ["globex/text/slugfy", "globex/text/review"] };
    const problems = await findProblems(server, { files });
    expect(problems.map(({ code }) => code)).toEqual(["InvalidReference", "InvalidReference"]);
    expect(problems[0]?.args).toMatchObject({ hint: expect.stringContaining("globex/text/slugify") });
    expect(problems[1]?.args).toMatchObject({ reason: expect.stringMatching(/\bprompt\b/) });
  });

  test("validate reports an entry handler that does not resolve as InvalidReference", async () => {
    const bundle = [
      "kind: Mcp.Tools",
      "metadata: { name: greetings }",
      "entries:",
      "  - name: hello_all",
      "    handler: acme/sample/great",
    ];
    const files = { "trailblaze/toolsets/greetings.yaml": bundle.join("\n") };
    const tree = { extension: { toolsets: ["greetings"] }, files };
    const problems = await validateTree(tree, codes);
    expect(problems).toMatchObject([
      { code: "InvalidReference", path: ["entries", 0, "handler"], line: 5, column: 5 },
    ]);
  });

  const document = (tools: string[]) => ({ kind: "Mcp.StdioServer", metadata: { name: "desk" }, tools });

  test.each(["welcoming", "acme/sample/welcoming", "@acme/sample/welcoming"])(
    "validate rejects a toolset that is not a bundle in a document: %s",
    async (reference) => {
      const problems = await findProblems(document(["greetings", reference]));
      expect(problems.map(summarize)).toEqual(["InvalidReference trailblaze/servers/desk.json tools.1"]);
      expect(first(problems)?.args).toMatchObject({
        reference,
        reason: expect.stringContaining("Mcp.Tools"),
      });
    },
  );
});

test("UnknownBuiltIn warns about an undeclared tool and suggests similar tools of the pack", async () => {
  const problems = await findProblems({ tools: ["greet", "great"] });
  expect(problems.map(summarize)).toEqual(["UnknownBuiltIn trailblaze/servers/desk.json tools.1"]);
  expect(first(problems)).toMatchObject({ severity: "warning" });
  expect(first(problems)?.args).toMatchObject({ reference: "great", nearest: ["greet"] });
});

test.each([
  [{ devDependencies: { "@globex/text": "^1.0.0" } }, "warning"],
  [{}, "error"],
])("PackNotInstalled is a warning for a declared pack and else an error: %j", async (fields, severity) => {
  const problems = await findProblems({ tools: ["globex/text/slugify"] }, { fields });
  expect(problems).toMatchObject([{ code: "PackNotInstalled", severity, args: { name: "@globex/text" } }]);
  expect(problems).toHaveLength(1);
});

test("PackVersionMismatch is an error if the installed version does not satisfy the range", async () => {
  const files = installed("@globex/text", { version: "1.4.0", trailblaze: { tools: ["slugify"] } });
  const problems = await findProblems({ tools: ["globex/text@^2/slugify"] }, { files });
  expect(problems.map(summarize)).toEqual(["PackVersionMismatch trailblaze/servers/desk.json tools.0"]);
  expect(first(problems)).toMatchObject({ severity: "error", line: 3 });
});
