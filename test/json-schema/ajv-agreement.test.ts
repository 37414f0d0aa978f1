import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSchemaValidator } from "../../src/json-schema/schema-validator.ts";

type Schema = Record<string, unknown>;

const options = {
  useDefaults: true,
  strict: false,
  ownProperties: true,
  validateFormats: false,
  allErrors: true,
  logger: false,
} as const;
const drafts = [
  ["2020-12", undefined, new Ajv2020(options)],
  ["draft-07", "http://json-schema.org/draft-07/schema#", new Ajv(options)],
] as const;

const names = ["a", "b", "c"];
const name = fc.constantFrom(...names);
const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -1, 1.5, "", "a", "ab", "😀", "abc", 10);
const { value, object } = fc.letrec<{ value: unknown; object: Schema }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(name, tie("value"), { noNullPrototype: true }),
}));

const type = fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string");
const conditions = ["if", "then", "else"];
const count = fc.integer({ min: 0, max: 3 });
const someNames = fc.uniqueArray(name, { maxLength: 2 });
const dictionaryOf = (arbitrary: fc.Arbitrary<unknown>) =>
  fc.dictionary(name, arbitrary, { maxKeys: 3, noNullPrototype: true });

/** Schemas of all keywords that a draft has, with references to three definitions. */
function schemaOf(draft: string): fc.Arbitrary<unknown> {
  const isModern = draft === "2020-12";
  const { schema } = fc.letrec<{ schema: unknown; keyword: Schema }>((tie) => {
    const inner = tie("schema");
    const some = fc.array(inner, { minLength: 1, maxLength: 3 });
    const say = (keyword: string, arbitrary: fc.Arbitrary<unknown>) =>
      arbitrary.map((one): Schema => ({ [keyword]: one }));
    const simple = [
      say("type", fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 2 }))),
      say("enum", fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 })),
      say("const", value),
      ...["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"].map((one) => say(one, count)),
      say("multipleOf", fc.constantFrom(1, 2, 0.5)),
      ...["minLength", "maxLength", "minItems", "maxItems"].map((one) => say(one, count)),
      ...["minProperties", "maxProperties"].map((one) => say(one, count)),
      say("pattern", fc.constantFrom("^a", "b$", ".")),
      say("required", someNames),
      say("uniqueItems", fc.boolean()),
      say("default", value),
      say(isModern ? "dependentRequired" : "dependencies", dictionaryOf(someNames)),
      say("$ref", fc.constantFrom("#/definitions/x", "#/definitions/y", "#/definitions/z")),
    ];
    const deep = [
      ...["allOf", "anyOf", "oneOf"].map((one) => say(one, some)),
      ...["not", "items", "propertyNames", "additionalProperties"].map((one) => say(one, inner)),
      say("properties", dictionaryOf(inner)),
      say("properties", dictionaryOf(value.map((one) => ({ default: one })))),
      say("patternProperties", fc.dictionary(fc.constantFrom("^a", "b|c"), inner, { noNullPrototype: true })),
      fc
        .tuple(inner, inner, inner)
        .map((all): Schema => Object.fromEntries(all.map((one, index) => [conditions[index], one]))),
      say(isModern ? "prefixItems" : "items", some),
      say(isModern ? "dependentSchemas" : "dependencies", dictionaryOf(inner)),
      ...(isModern
        ? [say("unevaluatedProperties", inner), say("unevaluatedItems", inner)]
        : [say("additionalItems", inner)]),
    ];
    const keyword = fc.oneof({ maxDepth: 4, depthSize: "small" }, fc.oneof(...simple), ...deep);
    const keywords = fc.array(keyword, { minLength: 1, maxLength: 3 });
    return {
      keyword,
      schema: fc.oneof(
        fc.boolean(),
        keywords.map((all) => Object.assign({}, ...all)),
        keywords.map((all) => Object.assign({}, ...all)),
      ),
    };
  });
  return schema;
}

describe.each(drafts)("checks in %s", (draft, $schema, ajv) => {
  const schema = schemaOf(draft).filter((one): one is Schema => typeof one === "object");
  const definitions = fc.record({
    x: schema,
    y: schema,
    z: fc.constant({ properties: { a: { $ref: "#/definitions/x" } } }),
  });

  test("ajv and the validator agree on which values are valid and on their defaults", {
    timeout: 60_000,
  }, () => {
    const validator = createSchemaValidator();
    const counts = { fitting: 0, breaking: 0, filled: 0 };
    fc.assert(
      fc.property(
        schema,
        definitions,
        fc.array(object, { minLength: 4, maxLength: 4 }),
        (one, parts, values) => {
          const whole = { ...one, definitions: parts, ...($schema === undefined ? {} : { $schema }) };
          let validate: ReturnType<Ajv["compile"]>;
          try {
            validate = ajv.compile(structuredClone(whole));
          } catch {
            return;
          }
          for (const given of values) {
            const checked = validator.check(whole, given);
            // A circle of references is a fault here, and no end there.
            if (!checked.ok && checked.schemaFault !== undefined) return;
            const copy = structuredClone(given);
            let fits: unknown;
            try {
              fits = validate(copy);
            } catch {
              // It writes code that fails where two alternatives have looked at patterns.
              return;
            }
            expect(checked.ok, JSON.stringify([whole, given])).toBe(fits);
            if (checked.ok) expect(checked.value, JSON.stringify([whole, given])).toEqual(copy);
            counts[checked.ok ? "fitting" : "breaking"]++;
            if (JSON.stringify(copy) !== JSON.stringify(given)) counts.filled++;
          }
        },
      ),
      { numRuns: 300, seed: 11 },
    );
    // Or it would be agreement on nothing.
    for (const some of Object.values(counts)) expect(some).toBeGreaterThan(25);
  });
});
