// The sample packs are the table: each folder of broken/ yields its code and nothing else, each good pack nothing.
import { cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalog, type ProblemCode } from "../../src/problems/index.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { inRepository } from "../support/repository.ts";
import { samplePacks } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";
import { entry } from "./validate-tool.ts";
import { greetTool, toolset, validateTree } from "./validate-tree.ts";

const brokenPacks = inRepository("fixtures/sample-plugins/broken");

/** Codes that a pack yields besides its own, where its own cannot come alone; the file says why. */
function readExpected(folder: string): string[] {
  const file = join(folder, "expected.json");
  if (!existsSync(file)) return [];
  const { codes, reason } = JSON.parse(readFileSync(file, "utf8")) as { codes: string[]; reason: string };
  expect(reason.length, file).toBeGreaterThan(20);
  return codes;
}

describe("broken sample packs", () => {
  test.each(readdirSync(brokenPacks).sort())(
    "validate reports exactly the expected codes for the broken sample pack %s",
    async (code) => {
      const folder = join(brokenPacks, code);
      expect(Object.hasOwn(catalog, code)).toBe(true);
      const { ok, problems } = await validateExtension(folder, { strict: true });
      const codes = new Set(problems.map((problem) => problem.code));
      expect(codes).toEqual(new Set([code, ...readExpected(folder)]));
      const isInfo = catalog[code as ProblemCode].severity === "info";
      expect(ok).toBe(isInfo);
      for (const { message, file, pack } of problems) expect([message, file, pack]).not.toContain(undefined);
    },
  );
});

describe("valid sample packs", () => {
  const project = makeTemporaryFolder();
  afterAll(project.remove);
  beforeAll(() => {
    const dependencies = Object.fromEntries(samplePacks.map(({ name, version }) => [name, version]));
    writeTree(project.path, {
      "package.json": { name: "app", version: "1.0.0", private: true, dependencies },
      ...scriptingPackage,
    });
    for (const { name, folder } of samplePacks) {
      cpSync(folder, join(project.path, "node_modules", name), { recursive: true });
    }
  });

  test.each(samplePacks)(
    "validate reports nothing for the sample pack $name, installed with the others",
    async ({ name }) => {
      const { ok, pack, problems } = await validateExtension(name, { cwd: project.path, strict: true });
      expect({ ok, pack, problems }).toEqual({ ok: true, pack: name, problems: [] });
    },
  );
});

test("validate reports more than twenty unrelated problems of one pack in one run", async () => {
  const tool = (name: string, fields: Record<string, unknown> = {}) =>
    greetTool("./lib/greet.js#greet", { name, description: "Greet.", ...fields });
  const schema = (keywords: object) => ({
    parameters: undefined,
    inputSchema: { type: "object", ...keywords },
  });
  const tools = {
    first: tool("acme_first", { title: "a\u200bb" }),
    second: tool("acme_second", { title: "\u001b[8m" }),
    third: tool("acme_third", { _meta: { "trailblaze/tooolset": "a" } }),
    fourth: tool("acme_fourth", { _meta: { "trailblaze/isForLlm": 1 } }),
    fifth: tool("acme.fifth"),
    sixth: tool("Acme_Sixth"),
    seventh: tool("ios_seventh"),
    eighth: tool("acme_eighth", { description: " " }),
    ninth: tool("acme_ninth", schema({ properties: { a: { type: "text" } } })),
    tenth: tool("acme_tenth", schema({ properties: { a: { pattern: "(a+)+" } } })),
    eleventh: tool("acme_eleventh", schema({ properties: { _trailblazeContext: {} } })),
    twelfth: tool("acme_first"),
    thirteenth: tool("acme_thirteenth", { handler: 5 }),
  };
  const files = {
    "lib/greet.js": "export const greet = () => 'Hello';\n",
    "trailblaze/tools.json": tools,
    "trailblaze/toolsets/one.json": toolset("other", { tools: ["first"] }),
    "trailblaze/toolsets/two.json": { ...toolset("two", {}), entries: [entry()] },
    "trailblaze/prompts/one.json": "{",
    "trailblaze/servers/one.json": { name: "one", description: "A server." },
  };
  const extension = {
    tools: [...Object.keys(tools), "first", 5, "a b"],
    toolsets: ["one", "two"],
    prompts: ["one", "missing"],
    servers: ["one"],
    tool: [],
  };
  const fields = { keywords: [], scripts: { postinstall: "node x.js" } };
  const problems = await validateTree({ extension, files, fields });
  const expected = [
    "HiddenText ControlCharacters UnknownMetaKey InvalidMetaValue InvalidAdvertisedName ToolNameConvention",
    "ReservedToolPrefix MissingDescription InvalidInputSchema UnsafePattern ReservedParameter",
    "DuplicateAdvertisedName InvalidToolDefinition NameMismatch InvalidToolsetDefinition",
    "InvalidDefinitionContents MissingDefinitionFile InvalidServerDefinition DuplicateDeclaration",
    "InvalidDeclaration InvalidItemName UnknownExtensionKey MissingKeyword LifecycleScript",
  ].flatMap((codes) => codes.split(" "));
  expect(expected.length).toBeGreaterThanOrEqual(20);
  expect(problems.map(({ code }) => code).sort()).toEqual(expected.sort());
});
