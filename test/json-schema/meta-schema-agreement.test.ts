import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { keywords } from "../../src/json-schema/meta-schema.ts";
import { readSchema } from "../../src/json-schema/read-schema.ts";

const options = { strict: false, validateFormats: false, logger: false } as const;

/** References, addresses and patterns have rules of their own, and ajv rejects an empty `enum` only when it compiles. */
const leftOut = /^\$(?:ref|dynamicRef|recursiveRef|schema|id)$|^pattern/;
const values: unknown[] = [
  ...[true, false, null, -1, 0, 1, 1.5, "", "a b", "text", "object", {}, { a: 1 }, { a: {} }, { a: "b" }],
  ...[{ a: [] }, { a: ["b"] }, { a: ["b", "b"] }, { a: ["b", 1] }, { a: { type: "text" } }, { type: "text" }],
  ...[["a"], ["a", "a"], ["object", "null"], ["object", "object"], [1, {}], [{}], [{ type: 5 }], [true]],
  JSON.parse('{ "__proto__": 5 }'),
];

test.each([
  ["draft2020", "https://json-schema.org/draft/2020-12/schema", new Ajv2020(options)],
  ["draft07", "http://json-schema.org/draft-07/schema", new Ajv(options)],
] as const)("the table of keywords agrees with the meta-schema of %s", (draft, $schema, ajv) => {
  const names = [...keywords[draft].keys()].filter((name) => !leftOut.test(name));
  expect(names.length).toBeGreaterThan(30);
  const isSame = (name: string, value: unknown) => {
    const schema = { $schema, [name]: value };
    return (readSchema(schema).faults.length === 0) === ajv.validateSchema(schema);
  };
  const differing = names.flatMap((name) =>
    values.filter((value) => !isSame(name, value)).map((value) => `${name}: ${JSON.stringify(value)}`),
  );
  expect(differing).toEqual([]);
});
