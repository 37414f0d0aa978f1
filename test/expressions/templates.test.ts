import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { absent } from "../../src/expressions/cel.ts";
import { compileCondition, compileTemplate, type TemplateFault } from "../../src/expressions/templates.ts";

const variables = { a: true } as const;

function compile(value: unknown) {
  const faults: TemplateFault[] = [];
  const options = { variables, path: ["top"], onFault: (fault: TemplateFault) => faults.push(fault) };
  return { template: compileTemplate(value, options), faults, options };
}

const scope = {
  a: { n: 7, text: "hello", nil: null, yes: false, list: [1, "two"], map: { k: [1] }, big: 1e21 },
};

function fill(value: unknown): unknown {
  const { template, faults } = compile(value);
  expect(faults).toEqual([]);
  return template(scope);
}

test.each<[string, unknown]>([
  ["${{ a.n }}", 7],
  ["${{ a.nil }}", null],
  ["${{ a.list }}", [1, "two"]],
  ['${{ "}}" }}', "}}"],
  ["${{ a.missing? }}", absent],
])("the value of %s keeps its type", (text, value) => {
  expect(fill(text)).toEqual(value);
});

test.each([
  ["${{ a.n }}${{ a.text }}", "7hello"],
  ["[${{ a.missing? }}]", "[]"],
  ["list ${{ a.list }}, map ${{ a.map }}", 'list [1,"two"], map {"k":[1]}'],
  ["${{ a.n / 2 }} ${{ a.big }}", "3.5 1e+21"],
  ["$${{ a.n }} is ${{ a.n }} of $${{", "${{ a.n }} is 7 of ${{"],
  ["$& ${{ '$&' }} $1", "$& $& $1"],
])("templates in %s are replaced by strings", (text, filled) => {
  expect(fill(text)).toBe(filled);
});

test("an absent value removes its key or its element", () => {
  const filled = fill({
    kept: "${{ a.n }}",
    dropped: "${{ a.missing? }}",
    nil: "${{ a.nil? }}",
    list: [1, "${{ a.missing? }}", ["${{ a.missing? }}"], "${{ a.text }}"],
    "${{ a.n }}": "keys are no templates",
    plain: [true, null, 1.5, { deep: "x${{ a.n }}" }],
  });
  expect(filled).toEqual({
    kept: 7,
    nil: null,
    list: [1, [], "hello"],
    "${{ a.n }}": "keys are no templates",
    plain: [true, null, 1.5, { deep: "x7" }],
  });
});

describe("problems of templates", () => {
  test("all problems of templates are reported at their places", () => {
    const { faults } = compile({
      one: "${{ b }}",
      two: ["fine ${{ a }}", "x ${{ a + }} ${{ c? }}"],
      three: "${{ a",
    });
    expect(faults).toEqual([
      {
        expression: "b",
        reason: "unknown variable b: the known variables are a (character 1)",
        path: ["top", "one"],
      },
      { expression: "a +", reason: "unexpected token: EOF (character 4)", path: ["top", "two", 1] },
      {
        expression: "c",
        reason: expect.stringContaining("? can follow only a key or an index"),
        path: ["top", "two", 1],
      },
      { expression: "${{ a", reason: "the closing }} is missing", path: ["top", "three"] },
    ]);
  });

  test.each(["a == 1", "true", "${{ a.yes }} ", "not ${{ a.yes }}", "${{ a.yes }}${{ a.yes }}", ""])(
    "a condition must be exactly one template: %j",
    (text) => {
      const { faults, options } = compile("");
      compileCondition(text, options);
      const isFine = text.trim() === "${{ a.yes }}";
      expect(faults.map(({ reason }) => reason)).toEqual(
        isFine ? [] : ["a condition must be exactly one ${{ … }}"],
      );
    },
  );

  test("an error of evaluation names its expression", () => {
    const { template } = compile({ k: ["${{ a.missing.deeper? }}"] });
    const message = '"a.missing.deeper": missing does not exist (character 3)';
    expect(() => template(scope)).toThrow(message);
  });
});

describe("arbitrary templates", () => {
  const name = fc.constantFrom("__proto__", "constructor", "prototype", "toString", "then", "a", "x");
  const { expression } = fc.letrec<{ expression: string }>((tie) => {
    const inner = tie("expression");
    return {
      expression: fc.oneof(
        { maxDepth: 5, depthSize: "small" },
        fc.constantFrom(
          "a",
          "a",
          "1",
          "'t'",
          "null",
          "[]",
          "{}",
          "2.5",
          "b'x'",
          "process",
          "optional.none()",
        ),
        fc.tuple(inner, fc.constantFrom(".", ".?"), name).map((parts) => parts.join("")),
        fc.tuple(inner, inner).map(([one, key]) => `${one}[${key}]`),
        fc.tuple(inner, name, inner).map(([one, method, arg]) => `${one}.${method}(${arg})`),
        fc.tuple(name, inner).map(([key, value]) => `{'${key}': ${value}}`),
        fc.tuple(inner, fc.constantFrom("+", "==", "in", "&&", "/"), inner).map((parts) => parts.join(" ")),
        fc.tuple(inner, inner).map(([one, body]) => `${one}.map(x, ${body})`),
        fc.tuple(fc.constantFrom("size", "string", "type", "has"), inner).map(([f, one]) => `${f}(${one})`),
      ),
    };
  });
  const text = fc.oneof(
    fc
      .tuple(fc.constantFrom("", "x "), expression, fc.constantFrom("", "?"))
      .map(([before, one, mark]) => `${before}\${{ ${one}${mark} }}`),
    fc.string({ unit: fc.constantFrom("$", "{", "}", "'", '"', "\\", "a", ".", "?", "(", ")", " ") }),
  );
  const value = fc.oneof(text, fc.array(text, { maxLength: 3 }), fc.dictionary(name, text, { maxKeys: 3 }));
  const data = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true });

  test("any template compiles or has problems, evaluates to JSON or throws an error for people, and changes nothing", () => {
    const prototypes = [Object.prototype, Array.prototype, Function.prototype, String.prototype];
    const before = prototypes.map((prototype) => Reflect.ownKeys(prototype).length);
    let values = 0;
    fc.assert(
      fc.property(value, data, (written, given) => {
        const a = JSON.parse(JSON.stringify(given));
        const { template } = compile(written);
        const kept = JSON.stringify(a);
        try {
          const filled = template({ a });
          values++;
          if (filled !== absent) expect(JSON.parse(JSON.stringify(filled))).toEqual(filled);
        } catch (error) {
          if ((error as Error).constructor !== Error) throw error;
        }
        expect(JSON.stringify(a)).toBe(kept);
      }),
      { numRuns: 800 },
    );
    expect(values).toBeGreaterThan(80);
    expect(prototypes.map((prototype) => Reflect.ownKeys(prototype).length)).toEqual(before);
  });
});
