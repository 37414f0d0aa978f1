import fc from "fast-check";
import { describe, expect, test } from "vitest";
import schema from "../../schema/extension.schema.json" with { type: "json" };
import { parseExtension } from "../../src/extension-schema/index.ts";
import { explainInvalidItemName } from "../../src/qualified-names/index.ts";

/** The pattern of the exported schema. */
const pattern = new RegExp(schema.properties.tools.items.anyOf[0]?.pattern ?? "(?!)", "u");

const bad = ["", "A".repeat(65), "../x", "a\n", "a\u001b[31m", "a\u202e", "\ud800", "__proto__", "NUL.txt"];

describe("names of items", () => {
  test.each(bad)("the item name %j is invalid, also for the exported schema", (name) => {
    expect(pattern.test(name)).toBe(false);
    for (const declaration of [name, [name, "text"], { name }]) {
      const { problems, extension } = parseExtension({ tools: ["first", declaration, "last"] });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatchObject({
        code: "InvalidItemName",
        severity: "error",
        kind: "tool",
        path: ["tools", 1],
      });
      expect(`${problems[0]?.message}${problems[0]?.hint}`).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(extension.tools.map((tool) => tool.name)).toEqual(["first", "last"]);
    }
  });

  test("the code and the schema's pattern accept the same item names", () => {
    const devices = fc.constantFrom(
      "con",
      "prn",
      "aux",
      "nul",
      "com1",
      "lpt9",
      "com",
      "lpt",
      "__proto__",
      "x",
    );
    const anyCase = (text: string) =>
      fc
        .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
        .map((upper) => [...text].map((letter, i) => (upper[i] ? letter.toUpperCase() : letter)).join(""));
    const names = fc.oneof(
      fc.string({ unit: "binary", maxLength: 6 }),
      fc.stringMatching(/^[A-Za-z0-9_.-]{0,70}$/),
      fc
        .tuple(devices.chain(anyCase), fc.constantFrom("", ".", ".x", "0", "1", "9", "1.txt", "..", "-"))
        .map((p) => p.join("")),
    );
    fc.assert(
      fc.property(names, (name) => {
        expect(pattern.test(name)).toBe(explainInvalidItemName(name) === undefined);
      }),
      { numRuns: 1000 },
    );
  });
});
