import { describe, expect, test } from "vitest";
import { compileEntryTemplates } from "../../src/expressions/bundle-templates.ts";
import { createCelEngine } from "../../src/expressions/cel-engine.ts";
import type { TemplateFault } from "../../src/expressions/compile-template.ts";

const engine = createCelEngine();

function compile(entry: Record<string, unknown>) {
  const faults: TemplateFault[] = [];
  const onFault = (fault: TemplateFault) => faults.push(fault);
  const templates = compileEntryTemplates(entry, { engine, path: ["entries", 0], onFault });
  return { ...templates, faults: faults.map(({ path, expression }) => `${path.join(".")}: ${expression}`) };
}

const request = {
  name: "find",
  arguments: { query: "x" },
  meta: { key: 1 },
  session: { id: "s", clientInfo: { name: "c" }, capabilities: { roots: {} } },
};

describe("the templates of an entry", () => {
  test("inputs see the whole request", () => {
    const { inputs, faults } = compile({
      inputs: {
        all: "${{ request.name }} ${{ request.arguments.query }} ${{ request.meta.key }}",
        client: "${{ request.session.clientInfo.name }}",
        roots: "${{ request.session.capabilities.roots }}",
        id: "${{ request.session.id }}",
      },
    });
    expect(faults).toEqual([]);
    expect(inputs?.evaluate({ request })).toEqual({ all: "find x 1", client: "c", roots: {}, id: "s" });
  });

  test("a catch sees the error and the whole request", () => {
    const { catches, faults } = compile({
      catches: [
        { code: "NONE", when: "${{ error.data.n == 1 }}", error: { message: "${{ error.message }}" } },
        { code: -32000, error: { code: "${{ error.code }}", data: "${{ request.session.id }}" } },
        { code: null },
      ],
    });
    expect(faults).toEqual([]);
    expect(catches.map(({ code }) => code)).toEqual(["NONE", "-32000", undefined]);
    const scope = { request, error: { code: 5, message: "m", data: { n: 1 } } };
    expect(catches.map(({ when }) => when?.evaluate(scope))).toEqual([true, undefined, undefined]);
    expect(catches.map(({ error }) => error.evaluate(scope))).toEqual([
      { message: "m" },
      { code: 5, data: "s" },
      undefined,
    ]);
  });

  test("expressions that do not compile are reported with their places", () => {
    const { faults } = compile({
      inputs: { a: "${{ result }}", b: ["${{ request.user }}"] },
      result: "${{ request.session }} ${{ error }}",
      catches: [
        { when: "always", error: "${{ result }}" },
        { when: "${{ error.stack == 1 }}", error: { message: "${{ b }}" } },
      ],
    });
    expect(faults).toEqual([
      "entries.0.inputs.a: result",
      "entries.0.inputs.b.0: request.user",
      "entries.0.result: request.session",
      "entries.0.result: error",
      "entries.0.catches.0.when: always",
      "entries.0.catches.0.error: result",
      "entries.0.catches.1.when: error.stack == 1",
      "entries.0.catches.1.error.message: b",
    ]);
  });
});
