import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { fillTemplate, templateNames } from "../../src/author/init-pack.ts";
import { checkDefinition } from "../../src/extension-schema/check-definition.ts";
import { validateExtension } from "../../src/index.ts";
import { type DefinedKind, definedKinds, keyOfKind } from "../../src/kinds.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { samplePacks } from "../support/sample-packs.ts";

const require = createRequire(import.meta.url);
const ajv = new Ajv({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
  formats: { "date-time": true },
});
const validators = new Map(
  definedKinds.map((kind) => [kind, ajv.compile(require(`trailblaze/schemas/${kind}.json`) as object)]),
);

function findErrors(kind: DefinedKind, definition: unknown): unknown[] {
  const validate = validators.get(kind);
  if (validate === undefined) throw new Error(kind);
  validate(definition);
  return validate.errors ?? [];
}

interface WrittenDefinition {
  name: string;
  kind: DefinedKind;
  definition: unknown;
}

/** The definitions in a file of data; none in other files. */
function readDefinitions(path: string, text: string): WrittenDefinition[] {
  if (!/\.(?:json|ya?ml)$/.test(path)) return [];
  const folder = basename(dirname(path));
  const content = parse(text) as Record<string, unknown>;
  const isCombined = (kind: DefinedKind) => basename(path).split(".")[0] === keyOfKind[kind];
  return definedKinds.flatMap((kind) => {
    if (folder === keyOfKind[kind]) return [{ name: path, kind, definition: content as unknown }];
    return isCombined(kind)
      ? Object.entries(content).map(([item, definition]) => ({ name: `${path} ${item}`, kind, definition }))
      : [];
  });
}

const ofSamples = samplePacks.flatMap(({ folder }) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => /\.(?:json|ya?ml)$/.test(path) && !path.includes("node_modules"))
    .flatMap((path) => readDefinitions(path, readFileSync(path, "utf8"))),
);
const ofTemplates = templateNames.flatMap((template) =>
  fillTemplate(template, "desk").flatMap(({ path, text }) => readDefinitions(path, text)),
);

describe("the schemas of definitions", () => {
  test.each([...ofSamples, ...ofTemplates])("the schemas accept $name", ({ kind, definition }) => {
    expect(findErrors(kind, definition)).toEqual([]);
  });

  const tool = { name: "a", inputSchema: {}, handler: "./a.js" };
  const bundle = { kind: "Mcp.Tools", metadata: { name: "a" }, entries: [] };
  const document = { kind: "Mcp.StdioServer", metadata: { name: "a" }, tools: ["b"] };
  const prompt = { name: "a", content: "b" };
  const resource = { name: "a", uri: "docs://a", text: "b" };
  const template = { name: "a", uriTemplate: "docs://{b}", handler: "./a.js" };
  test.each<[DefinedKind, object]>([
    ["tool", { ...tool, $schema: 5, unknown: 1, "x-own": 2 }],
    ["tool", { ...tool, parameters: {} }],
    ["server", {}],
    ["server", { command: "a", script: "./a.js" }],
    ["server", { command: "a", tools: ["b"] }],
    ["server", { ...document, prompts: ["c"] }],
    ["toolset", bundle],
    ["toolset", { ...bundle, entries: [{ name: "b", handler: "c", catches: [{ when: 1 }] }] }],
    ["prompt", { ...prompt, handler: "./a.js" }],
    ["prompt", { ...prompt, arguments: [{ name: "c" }], complete: { c: 1 } }],
    ["resource", { ...resource, uriTemplate: "docs://{b}" }],
    ["resource", { ...resource, annotations: { audience: ["user"], priority: 2 } }],
    ["resource", { ...template, complete: { b: "./a.js#b" }, subscribe: "./a.js#watch" }],
  ])("the schemas agree with validation about the %s %j", (kind, definition) => {
    const written = JSON.parse(JSON.stringify(definition)) as unknown;
    const isValid = checkDefinition(kind, written).problems.length === 0;
    expect(findErrors(kind, written).length === 0).toBe(isValid);
  });

  const greet = {
    name: "greet",
    description: "Greet.",
    inputSchema: { type: "object" },
    handler: "./greet.js#greet",
  };
  const meta = (value: object) => ({ ...greet, _meta: value });
  test.each<[object, boolean]>([
    [greet, true],
    [{ ...greet, handler: "./lib/../greet.js#greet", initialize: "./greet.js#greet" }, true],
    [{ ...greet, name: "greet somebody" }, false],
    [{ ...greet, handler: "greet.js#greet" }, false],
    [meta({ "trailblaze/isForLlm": false, "trailblaze/supportedPlatforms": ["Android", "WEB"] }), true],
    [meta({ "trailblaze/isForLlm": "no" }), false],
    [meta({ "trailblaze/supportedPlatforms": ["AMIGA"] }), false],
  ])("the schema of tools agrees with the checks about %j", async (definition, isValid) => {
    expect(findErrors("tool", definition).length === 0).toBe(isValid);
    const cwd = makeTree({
      "package.json": packManifest("desk", { trailblaze: { tools: ["greet"] } }),
      "trailblaze/tools/greet.json": definition,
      "greet.js": "export const greet = () => 1;\n",
    });
    expect((await validateExtension(cwd, { cwd })).ok).toBe(isValid);
  });
});

test("$schema is ignored in the field, in definitions and in files with several of them", async () => {
  const cwd = makeTree({
    "package.json": packManifest("desk", { trailblaze: { $schema: "./s.json", prompts: ["a", "b"] } }),
    "trailblaze/prompts/a.json": { $schema: "./s.json", name: "a", description: "A.", content: "A" },
    "trailblaze/prompts.json": { $schema: "./s.json", b: { name: "b", description: "B.", content: "B" } },
  });
  expect((await validateExtension(cwd, { cwd, strict: true })).problems).toEqual([]);
});

test("templates name a schema that exists where they install trailblaze", () => {
  const files = templateNames.flatMap((template) => fillTemplate(template, "desk"));
  const definitions = files.filter(({ path }) => /^trailblaze\//.test(path));
  expect(definitions.length).toBeGreaterThan(0);
  for (const { path, text } of definitions) {
    const schema = /^(?:# yaml-language-server: \$schema=|\{\n {2}"\$schema": ")([^"\n]+)/.exec(text)?.[1];
    const target = join(dirname(path), schema ?? "");
    const [, , file = ""] = /^(node_modules\/trailblaze)\/(.*)$/.exec(target) ?? [];
    expect(existsSync(inRepository(file)), `${path}: ${target}`).toBe(true);
    expect(file).not.toBe("");
  }
});
