// What a handler asks with `needInput`, in this process and in a child, and how its questions and the answers are checked.
import { describe, expect, test } from "vitest";
import { needInput } from "../../packages/scripting/src/result.ts";
import { createCelEngine } from "../../src/expressions/cel-engine.ts";
import { createSchemaValidator } from "../../src/json-schema/schema-validator.ts";
import { compileBundle } from "../../src/runtime/bundle.ts";
import { convertOutcome } from "../../src/runtime/convert-result.ts";
import type { InputRequests } from "../../src/runtime/handler-context.ts";
import { createInProcessRunner } from "../../src/runtime/in-process-runner.ts";
import { describeRequests, settleAnswers } from "../../src/runtime/input-rounds.ts";
import { invokeTool } from "../../src/runtime/invoke-tool.ts";
import { describeReturned } from "../../src/runtime/returned-value.mjs";
import { createContext } from "./run-place.ts";

const name = { type: "object", properties: { name: { type: "string", minLength: 2 } }, required: ["name"] };
const form: InputRequests = { who: { message: "Who?", schema: name } };

test("data that only looks like a question is a result", async () => {
  const outcome = await convertOutcome({ returned: describeReturned({ requests: form }) });
  expect(outcome).toMatchObject({ result: { structuredContent: { requests: form } } });
});

test("an entry of a bundle asks, without its `result` and `catches`", async () => {
  const { entries } = compileBundle(
    {
      kind: "Mcp.Tools",
      metadata: { name: "B" },
      entries: [
        {
          name: "b",
          handler: "./a.mjs#a",
          result: { content: [{ type: "text", text: "${{ result.never }}" }] },
          catches: [{ error: { code: -32001 } }],
        },
      ],
    },
    { engine: createCelEngine() },
  );
  const [entry] = entries;
  if (entry === undefined) throw new Error("no entry");
  const source = { from: "function", run: () => needInput(form as never) } as const;
  const runner = createInProcessRunner({ root: "/", trusted: true });
  const code = {
    owner: { pack: undefined, root: "/" },
    handler: { root: "/", source },
    initialize: undefined,
    options: {},
    inputSchema: undefined,
    outputSchema: undefined,
  };
  const { callTool, options: _, ...context } = createContext();
  const outcome = await invokeTool(
    { code, entry },
    {
      args: {},
      context,
      depth: 0,
      maxDepth: 1,
      validator: createSchemaValidator(),
      request: { name: "b", meta: {}, session: { id: "s", clientInfo: {}, capabilities: {} } },
      getRunner: async () => runner,
      callTool: callTool as never,
    },
  );
  expect(outcome).toEqual({ inputRequired: { requests: form } });
});

describe("an invalid question", () => {
  const property = (schema: unknown) => ({
    a: { message: "?", schema: { type: "object", properties: { p: schema } } },
  });
  test.each<[string, unknown, unknown]>([
    ["there is no request", {}, undefined],
    ["the requests must be an object", [], undefined],
    ['invalid key ""', { "": form.who }, undefined],
    [
      "there are more than 32 requests",
      Object.fromEntries(Array.from({ length: 33 }, (_, n) => [n, form.who])),
      undefined,
    ],
    ["/a must be object", { a: "Who?" }, undefined],
    ["/a/schema is required", { a: { message: "?" } }, undefined],
    ["/a/schema is not allowed", { a: { ...form.who, url: "https://a.example" } }, undefined],
    ["/a/message must NOT have fewer", { a: { message: "", schema: name } }, undefined],
    ["/a/url must be an http", { a: { message: "?", url: "file:///etc/passwd" } }, undefined],
    ["/a/url must be an http", { a: { message: "?", url: "javascript:alert(1)" } }, undefined],
    ["/a/url must be an http", { a: { message: "?", url: "https://[bad" } }, undefined],
    ["/a/url must be an http", { a: { message: "?", url: "https://:80" } }, undefined],
    ["/a/method must be one of", { a: { method: "tools/list" } }, undefined],
    ["/a/params must be object", { a: { method: "roots/list", params: [] } }, undefined],
    ["/a/schema must be object", { a: { message: "?", schema: true } }, undefined],
    ['/a/schema/type must be "object"', { a: { message: "?", schema: { type: "string" } } }, undefined],
    ["/a/schema/anyOf is not allowed", { a: { message: "?", schema: { ...name, anyOf: [] } } }, undefined],
    ["/a/schema/properties/p/type must be one of", property({ type: "object" }), undefined],
    ["/a/schema/properties/p/anyOf is not allowed", property({ type: "string", anyOf: [{}] }), undefined],
    [
      "/a/schema/properties/p/items/enum is required",
      property({ type: "array", items: { type: "string" } }),
      undefined,
    ],
    ["/a/schema/properties/p/items is required", property({ type: "array" }), undefined],
    ["/p/items/type must be", property({ type: "array", items: { type: "number", enum: ["a"] } }), undefined],
    ["/p/items is not allowed", property({ type: "string", items: { enum: ["a"] } }), undefined],
    ["/p/oneOf is not allowed", property({ type: "boolean", oneOf: [{ const: "a" }] }), undefined],
    ["/a/schema/properties/p/enum/0 must be", property({ type: "string", enum: [1] }), undefined],
    ["/a/schema/properties/p/oneOf/0/const is", property({ type: "string", oneOf: [{}] }), undefined],
    ["/a/schema/properties/p/format must be", property({ type: "string", format: "zip" }), undefined],
    ["/a/schema/properties/p/minLength", property({ type: "string", minLength: "x" }), undefined],
    ["the state exceeds 65536 bytes", form, "x".repeat(70_000)],
    ["the requests exceed 65536 bytes", { a: { message: "x".repeat(70_000), schema: name } }, undefined],
  ])("an invalid question is a failure of the tool: %s", async (reason, requests, state) => {
    const returned = describeReturned(needInput(requests as never, { state }));
    const outcome = await convertOutcome({ returned });
    expect(outcome).toMatchObject({
      result: { isError: true, content: [{ text: expect.stringContaining(reason) }] },
      fault: expect.stringMatching(/^The handler asks for input with an invalid request: /),
    });
  });

  test("a state that is no JSON is a failure of the tool", async () => {
    const outcome = await convertOutcome({
      returned: describeReturned(needInput(form as never, { state: new Map() })),
    });
    expect(outcome).toMatchObject({ result: { isError: true } });
    expect(() => needInput(form as never, { state: () => 1 })).toThrow(TypeError);
  });

  test.each([
    { type: "string", format: "email", default: "a@b.example" },
    { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] },
    { type: "string", oneOf: [{ const: "a", title: "A" }] },
    { type: "integer", minimum: 1 },
    { type: "integer", enum: [1, 2] },
    { type: "number", default: 1.5 },
    { type: "boolean", default: true },
    { type: "array", items: { type: "string", enum: ["a"] }, maxItems: 1 },
    { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
  ])("a form may ask for %j", async (schema) => {
    const requests = property(schema);
    const outcome = await convertOutcome({ returned: describeReturned(needInput(requests as never)) });
    expect(outcome).toEqual({ inputRequired: { requests } });
  });
});

test("a page may be asked for with any spelling of its URL, and requests may have other keys", async () => {
  const requests = { a: { message: "?", url: "HTTPS://a.b", title: "A" } };
  const outcome = await convertOutcome({ returned: describeReturned(needInput(requests)) });
  expect(outcome).toEqual({ inputRequired: { requests } });
});

test("answers that break their schema are declined, and unasked ones are dropped", async () => {
  const requests: InputRequests = {
    ...form,
    short: { message: "Who?", schema: name },
    page: { message: "Visit", url: "https://a.example" },
    model: { method: "sampling/createMessage", params: {} },
    roots: { method: "roots/list", params: {} },
    odd: { message: "Who?", schema: name },
    canceled: { message: "Who?", schema: name },
    silent: { message: "Who?", schema: name },
  };
  const answers = {
    who: { action: "accept", content: { name: "Ada" } },
    short: { action: "accept", content: { name: "A" } },
    page: { action: "accept", content: { hidden: 1 } },
    model: { action: "accept", content: { role: "assistant" } },
    roots: { action: "accept", content: { roots: [{ uri: "file:///a" }] } },
    odd: "accept",
    canceled: { action: "cancel", content: { name: "Ada" } },
    unasked: { action: "accept", content: {} },
  };
  expect(await settleAnswers(requests, answers)).toEqual({
    who: { action: "accept", content: { name: "Ada" } },
    short: { action: "decline" },
    page: { action: "accept" },
    model: { action: "decline" },
    roots: { action: "accept", content: { roots: [{ uri: "file:///a" }] } },
    odd: { action: "decline" },
    canceled: { action: "cancel" },
  });
});

test("a description of questions has nothing that a terminal interprets", () => {
  const text = describeRequests({
    a: { message: "\u001b[31mWho?", url: "https://a.example" },
    b: { method: "roots/list", params: {} },
  });
  expect(text).not.toContain("\u001b");
  expect(text).toContain("https://a.example");
  expect(text).toContain("roots/list");
});
