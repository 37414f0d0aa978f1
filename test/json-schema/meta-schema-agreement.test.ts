import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keywords } from "../../src/json-schema/keywords.ts";
import { readSchema } from "../../src/json-schema/read-schema.ts";

const options = { strict: false, validateFormats: false, logger: false } as const;
const drafts = [
  ["draft2020", "https://json-schema.org/draft/2020-12/schema", new Ajv2020(options)],
  ["draft07", "http://json-schema.org/draft-07/schema#", new Ajv(options)],
] as const;

/** References, addresses and patterns have rules of their own. */
const leftOut: ReadonlySet<string> = new Set([
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "pattern",
  "patternProperties",
  "$schema",
  "$id",
]);

const scalar = fc.oneof(
  fc.constantFrom("string", "object", "array", "text", "", "a b"),
  fc.constantFrom(true, false, null, 0, 1, -1, 1.5),
);

const name = fc.constantFrom("a", "b");

describe.each(drafts)("%s", (draft, uri, ajv) => {
  const names = [...keywords[draft].keys()].filter((name) => !leftOut.has(name));
  const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      scalar,
      fc.uniqueArray(scalar, { maxLength: 3 }),
      tie("schema"),
      fc.array(tie("schema"), { maxLength: 2 }),
      fc.dictionary(name, tie("schema"), { noNullPrototype: true }),
      fc.dictionary(name, fc.array(scalar, { maxLength: 2 }), { noNullPrototype: true }),
    ),
    schema: fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  }));

  test("the meta-schema check agrees with ajv on which schemas are valid", { timeout: 30_000 }, () => {
    let accepted = 0;
    fc.assert(
      fc.property(schema, (value) => {
        const written = { ...(value as object), $schema: uri };
        // ajv refuses an empty `enum` only when it compiles a schema.
        fc.pre(!JSON.stringify(written).includes('"enum":[]'));
        const isValid = ajv.validateSchema(written) === true;
        if (isValid) accepted++;
        expect(readSchema(written).faults.length === 0, JSON.stringify(written)).toBe(isValid);
      }),
      { numRuns: 800, seed: 7 },
    );
    // Or it would be agreement on nothing.
    expect(accepted).toBeGreaterThan(80);
  });
});

test("an object and an array of its entries are different values of an enum", () => {
  const $schema = "http://json-schema.org/draft-07/schema#";
  expect(readSchema({ $schema, enum: [{ a: 1 }, [["a", 1]]] }).faults).toEqual([]);
});
