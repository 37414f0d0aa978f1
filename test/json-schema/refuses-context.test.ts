import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayRefuseContext } from "../../src/json-schema/reserved-parameters.ts";

const strict = { type: "object", properties: { a: {} }, additionalProperties: false };
const open = { type: "object", properties: { a: {} } };

describe("a schema that may reject an additional key", () => {
  test.each<[string, Record<string, unknown>]>([
    ["is closed", strict],
    ["has no properties at all", { type: "object", additionalProperties: false }],
    ["wants text in further keys", { additionalProperties: { type: "string" } }],
    ["wants an object of a certain shape in further keys", { additionalProperties: { required: ["x"] } }],
    ["never accepts further keys", { additionalProperties: { not: {} } }],
    ["closes itself over other schemas", { unevaluatedProperties: false, allOf: [open] }],
    ["names the keys that it takes", { propertyNames: { enum: ["a"] } }],
    ["limits the number of keys", { maxProperties: 3 }],
    ["is a closed object in a list of keys by pattern", { patternProperties: { "^_": { type: "string" } } }],
    ["compares the whole object", { enum: [{ a: 1 }] }],
    ["compares with one object", { const: {} }],
    ["is closed by a reference", { $ref: "#/$defs/a", $defs: { a: strict } }],
    ["leads elsewhere", { $ref: "https://schemas.example/tool.json" }],
    ["has a dynamic reference", { $dynamicRef: "#" }],
    ["is closed in one part", { allOf: [open, strict] }],
    ["is closed in one variant of any", { anyOf: [open, strict] }],
    ["is closed in one variant of one", { oneOf: [open, strict] }],
    ["is no schema in one variant", { anyOf: [open, false] }],
    ["must not be something closed", { not: { ...strict, required: ["a"] } }],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ["is closed under a condition", { if: { required: ["a"] }, then: strict }],
    ["is closed otherwise", { if: { required: ["a"] }, else: strict }],
    ["is closed where a key is there", { dependentSchemas: { a: strict } }],
    ["is closed where a key is there, in draft-07", { dependencies: { a: strict } }],
    ["wants another key beside this one", { dependentRequired: { _trailblazeContext: ["a"] } }],
    ["describes this very key", { properties: { _trailblazeContext: { type: "string" } } }],
  ])("a schema that %s may reject an additional key", (_, schema) => {
    expect(mayRefuseContext(schema)).toBe(true);
    expect(mayRefuseContext({ allOf: [{ anyOf: [schema] }], $defs: schema.$defs, x: schema.x })).toBe(true);
  });
});

describe("a schema that accepts an additional key", () => {
  test.each<[string, Record<string, unknown>]>([
    ["says nothing", {}],
    ["is open", open],
    ["says that it is open", { ...open, additionalProperties: true }],
    ["takes anything in further keys", { additionalProperties: {} }],
    ["is closed only inside", { properties: { a: strict }, $defs: { b: strict } }],
    ["is open in each variant", { anyOf: [open, { ...open, required: ["a"] }] }],
    ["asks for keys", { required: ["a"], "x-order": ["a"] }],
  ])("a schema that %s accepts an additional key", (_, schema) => {
    expect(mayRefuseContext(schema)).toBe(false);
  });
});

describe("agreement with a validator", () => {
  const key = fc.constantFrom("a", "b", "_trailblazeContext");
  const scalar = fc.constantFrom<unknown>(true, false, 0, 1, 2, "object", "string", "a");
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const map = fc.dictionary(key, tie("schema"), { maxKeys: 2, noNullPrototype: true });
    const list = fc.array(tie("schema"), { minLength: 1, maxLength: 2 });
    const keywords = {
      type: fc.constantFrom("object", "string", ["object", "null"]),
      required: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
      properties: map,
      patternProperties: fc.dictionary(fc.constantFrom("^_", "^a"), tie("schema"), { noNullPrototype: true }),
      additionalProperties: tie("schema"),
      propertyNames: tie("schema"),
      maxProperties: fc.constantFrom(0, 1, 2),
      minProperties: fc.constantFrom(0, 1, 2),
      const: fc.constantFrom({}, { a: 1 }),
      enum: fc.constantFrom([{}], [{ a: 1 }, 1]),
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: tie("schema"),
      if: tie("schema"),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: tie("schema"),
      else: tie("schema"),
    };
    const single = fc.oneof(...Object.entries(keywords).map(([name, value]) => fc.record({ [name]: value })));
    return {
      schema: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        fc.constantFrom(true, false, {}, { $ref: "#/$defs/one" }, { type: "object" }),
        fc.tuple(single, single).map(([one, other]) => ({ ...one, ...other })),
      ),
    };
  });
  const context = { memory: { userId: "42" }, device: null };

  test.each([
    ["draft-07", new Ajv({ strict: false, logger: false })],
    ["2020-12", new Ajv2020({ strict: false, logger: false })],
  ] as const)(
    "a validator agrees on whether an additional key is accepted, for %s",
    { timeout: 60_000 },
    (_, ajv) => {
      let sent = 0;
      fc.assert(
        fc.property(
          schema.filter((one) => typeof one === "object"),
          schema,
          fc.dictionary(fc.constantFrom("a", "b"), scalar, { noNullPrototype: true }),
          (top, one, args) => {
            const written = { ...(top as object), $defs: { one } };
            if (mayRefuseContext(written)) return;
            let check: (value: unknown) => boolean;
            try {
              check = ajv.compile(written) as typeof check;
              if (!check(args)) return;
            } catch {
              // A reference that leads back to itself never ends.
              return;
            }
            sent++;
            const full = { ...args, _trailblazeContext: context };
            expect(check(full), JSON.stringify({ written, args })).toBe(true);
          },
        ),
        { numRuns: 1200, seed: 11 },
      );
      expect(sent).toBeGreaterThan(60);
    },
  );
});
