import { describe, expect, test } from "vitest";
import { compileEntryTemplates } from "../../src/expressions/templates.ts";
import {
  answerError,
  type BundleRequest,
  type EntryError,
  fillInputs,
  fillResult,
} from "../../src/runtime/bundle.ts";
import { describeReturned, describeThrown } from "../../src/runtime/handler-code.mjs";
import { HandlerError } from "../../src/runtime/tool-code.ts";

const request: BundleRequest = {
  name: "sample_tool",
  arguments: { city: "Lisbon", days: 2, nested: { list: [1] } },
  meta: { progressToken: 5 },
  session: { id: "s-1", clientInfo: { name: "client", version: "1" }, capabilities: { roots: {} } },
};

const compileEntry = (fields: Record<string, unknown>) =>
  compileEntryTemplates(fields, [], (fault) => expect.fail(JSON.stringify(fault)));

/** The answer to what the handler of an entry throws. */
const answerTo = (entry: ReturnType<typeof compileEntry>, thrown: unknown) =>
  answerError(entry, new HandlerError(describeThrown(thrown)), request) as EntryError;
const invokeError = (code: unknown, message = "It broke.", data?: unknown) =>
  Object.assign(new Error(message), { code, data });

describe("inputs of an entry", () => {
  test("without inputs, the handler gets a copy of the arguments", () => {
    for (const fields of [{}, { inputs: "${{ request.arguments }}" }]) {
      const args = fillInputs(compileEntry(fields), request) as { nested: { list: number[] } };
      expect(args).toEqual(request.arguments);
      args.nested.list.push(2);
      expect(request.arguments.nested).toEqual({ list: [1] });
    }
  });

  test.each([
    [
      { x: "${{ request.arguments.region.code? }}" },
      /`inputs`: "request\.arguments\.region\.code": .*region.*\(character 19\)/,
    ],
    ["${{ request.arguments.city }}", /`inputs`: .*object/],
    ["${{ request.arguments.none? }}", /`inputs`: .*object/],
  ])("the input %j without a value is an error", (inputs, message) => {
    expect(() => fillInputs(compileEntry({ inputs }), request)).toThrow(message);
  });
});

describe("the result of an entry", () => {
  const run = (result: unknown, returned: unknown) =>
    fillResult(compileEntry({ result }), describeReturned(returned), request);

  test("a result template may build the whole CallToolResult from the handler's value and the request", () => {
    const template = {
      content: [{ type: "text", text: "${{ request.arguments.city }}: ${{ result.degrees }}" }],
      structuredContent: "${{ result }}",
      isError: "${{ result.stale? }}",
      _meta: { tool: "${{ request.name }}" },
    };
    expect(run(template, { degrees: 21.5 })).toEqual({
      content: [{ type: "text", text: "Lisbon: 21.5" }],
      structuredContent: { degrees: 21.5 },
      _meta: { tool: "sample_tool" },
    });
    expect(run(template, { degrees: 3, stale: true })).toMatchObject({ isError: true });
  });

  test("a result template gets the handler's unconverted value", () => {
    const template = { content: [], structuredContent: { raw: "${{ result }}" } };
    expect(run(template, undefined)).toMatchObject({ structuredContent: { raw: null } });
    expect(run(template, 7)).toMatchObject({ structuredContent: { raw: 7 } });
  });

  test.each<[unknown, unknown, string]>([
    ["${{ result }}", 7, "it must be an object."],
    [{ isError: true }, 7, "/content"],
    [{ content: "${{ result.blocks }}" }, {}, '"result.blocks": blocks'],
    [{ content: [] }, 1n, "Do not know how to serialize a BigInt"],
  ])("the impossible result %j is an error", (template, returned, message) => {
    expect(() => run(template, returned)).toThrow(message);
  });
});

describe("the catches of an entry", () => {
  const catches = [
    { error: { code: -32000, message: "Anything else." } },
    {
      code: "OFFLINE",
      when: "${{ error.data.retryable == true }}",
      error: { code: -32002, message: "${{ error.message }} Later." },
    },
    { code: "OFFLINE", error: { code: -32003, message: "${{ error.message }}", data: "${{ error.data }}" } },
    {
      when: "${{ error.code == 404 }}",
      error: { code: "${{ 0 - 32000 - error.code }}", message: "${{ request.name }}" },
    },
    { when: "${{ error.data.kind }}", error: { code: -1, message: "not a bool" } },
    { when: "${{ error.data.kind == 'odd' }}", error: { code: "-7", message: "odd" } },
  ];
  const answer = (thrown: unknown, list: unknown[] = catches) =>
    answerTo(compileEntry({ catches: list }), thrown).answer;

  test.each<[string, unknown, unknown]>([
    [
      "code and condition",
      invokeError("OFFLINE", "Gone.", { retryable: true }),
      { code: -32002, message: "Gone. Later." },
    ],
    [
      "code, the condition having no value",
      invokeError("OFFLINE", "Gone."),
      { code: -32003, message: "Gone." },
    ],
    ["condition alone, on a number", invokeError(404), { code: -32404, message: "sample_tool" }],
    ["condition, exactly true only", invokeError("X", "m", { kind: "odd" }), { code: -7, message: "odd" }],
    [
      "nothing: the last one, wherever it stands",
      invokeError("OTHER"),
      { code: -32000, message: "Anything else." },
    ],
    ["what is no error", "thrown text", { code: -32000, message: "Anything else." }],
  ])("a catch matches by %s", (_, thrown, expected) => {
    expect(answer(thrown)).toEqual(expected);
  });

  test("an error without a matching catch is a general error, and the host gets what was thrown", () => {
    const general = { code: -32603, message: "The tool failed." };
    const entry = compileEntry({ catches: catches.slice(1) });
    const { message, answer, cause } = answerTo(entry, invokeError("OTHER", "secret", { a: 1 }));
    expect({ message, answer, cause }).toMatchObject({
      message: "secret",
      answer: general,
      cause: { name: "HandlerError" },
    });
    expect(answerTo(entry, new Error("no code")).answer).toEqual(general);
    expect(answerTo(compileEntry({}), invokeError("X")).answer).toEqual(general);
  });

  test.each<[unknown, unknown]>([
    [
      { code: "-32001", message: "m" },
      { code: -32001, message: "m" },
    ],
    [{ code: "12x" }, { code: -32603, message: "The tool failed." }],
    [
      { code: -1, message: "${{ error.data }}" },
      { code: -1, message: '{"n":1}' },
    ],
    [
      { code: -1, message: "m", data: "${{ error.data.none? }}" },
      { code: -1, message: "m" },
    ],
  ])("%j is answered as the specification of JSON-RPC says", (error, expected) => {
    expect(answer(invokeError("X", "hidden", { n: 1 }), [{ code: "X", error }])).toEqual(expected);
  });
});
