import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateFiles } from "../../scripts/generate.ts";
import { parseExtension } from "../../src/extension-schema/parse-extension.ts";
import { inRepository } from "../support/repository.ts";

describe("generated files", () => {
  test.each(Object.entries(generateFiles()))("%s is what `npm run generate` creates", (path, content) => {
    expect(readFileSync(inRepository(path), "utf8")).toBe(content);
  });
});

const schema = JSON.parse(readFileSync(inRepository("schema/extension.schema.json"), "utf8")) as object;
const fitsSchema = new Ajv2020({ strict: true, allErrors: true }).compile(schema);

/** What JSON Schema has no words for. */
const inexpressible: ReadonlySet<string> = new Set(["DuplicateDeclaration"]);

const errorsOf = (value: unknown) =>
  // All of them are errors in validation.
  parseExtension(value).problems.filter(({ code }) => !inexpressible.has(code));

function expectAgreement(value: unknown): void {
  const errors = errorsOf(value);
  const verdict = { schema: fitsSchema(value), validation: errors.length === 0 };
  expect(verdict, JSON.stringify({ value, errors, violations: fitsSchema.errors })).toEqual({
    schema: verdict.validation,
    validation: verdict.validation,
  });
}

describe("the exported JSON Schema accepts exactly what validation accepts", () => {
  test.each([
    '{"__proto__": {}}',
    '{"constructor": 1}',
    '{"needs": {"__proto__": []}}',
    '{"tools": [{"name": "a", "__proto__": {"b": 1}}]}',
  ])("the exported schema and validation agree on the text %s", (json) => {
    expectAgreement(JSON.parse(json));
  });

  const declarations = ["a", ["b", "B."], { name: "c", description: "C.", "x-own": [1] }];
  const good = {
    root: "a/b",
    servers: [...declarations, { name: "d", tools: ["a"], toolsets: [], prompts: ["a"], resources: ["a"] }],
    tools: [
      ...declarations,
      { name: "d", parameters: ["a", { name: "b" }] },
      { name: "e", parameters: { a: {} } },
    ],
    toolsets: [...declarations, { name: "d", tools: ["a"] }],
    prompts: [...declarations, { name: "d", arguments: ["a"] }],
    resources: [...declarations, { name: "d", uri: "a", uriTemplate: "b", mimeType: "c" }],
    needs: { env: ["A", "_b"], network: ["c"], read: [], write: [], tools: ["d"], "x-own": {} },
    "x-own": 1,
  };

  type Container = Record<string, unknown>;

  /** Every place in a value: the object or list it lies in, and its key there. */
  function placesIn(value: unknown): [Container, string][] {
    if (typeof value !== "object" || value === null) return [];
    return Object.keys(value).flatMap((key) => [
      [value as Container, key],
      ...placesIn((value as Container)[key]),
    ]);
  }

  const replacement = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(
      "",
      "../x",
      "con",
      "a.",
      "__proto__",
      "_a",
      "a b",
      "NUL.txt",
      [],
      {},
      ["a"],
      ["a", "b"],
      "*",
    ),
  );
  const addedKey = fc.constantFrom(
    "tool",
    "parameters",
    "arguments",
    "tools",
    "name",
    "description",
    "x-y",
    "root",
    "needs",
    "env",
  );

  test("the exported schema and validation accept a field with everything", () => {
    expect(errorsOf(good)).toEqual([]);
    expectAgreement(good);
  });

  test("the exported schema and validation agree on fields with one or two other values", () => {
    const change = fc.record({ choice: fc.nat(), value: replacement, key: fc.option(addedKey) });
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
        const field: Container = structuredClone(good);
        for (const { choice, value, key } of changes) {
          const places = placesIn(field);
          const [container, place] = places[choice % (places.length || 1)] ?? [field, "tools"];
          // A value that two changes share would come to contain itself.
          container[key === null || Array.isArray(container) ? place : key] = structuredClone(value);
        }
        expectAgreement(field);
        verdicts.add(fitsSchema(field));
      }),
      { numRuns: 1000 },
    );
    // A property that sees one answer only would show little.
    expect(verdicts.size).toBe(2);
  });
});
