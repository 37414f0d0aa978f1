// What a handler asks with `needInput`, in this process and in a child, and how its questions and the answers are checked.
import { describe, expect, test } from "vitest";
import { needInput } from "../../packages/scripting/src/result.ts";
import { convertReturned } from "../../src/runtime/convert-result.ts";
import { describeReturned } from "../../src/runtime/handler-code.mjs";
import type { InputRequests } from "../../src/runtime/handler-context.ts";
import {
  expectAnswer,
  InputNeeded,
  InvalidQuestionError,
  listRequests,
  settleAnswers,
} from "../../src/runtime/input-rounds.ts";

const name = { type: "object", properties: { name: { type: "string", minLength: 2 } }, required: ["name"] };
const form: InputRequests = { who: { message: "Who?", schema: name } };

const read = async (value: unknown) => convertReturned(await expectAnswer(describeReturned(value)));

test("data that only looks like a question is a result", async () => {
  expect(await read({ requests: form })).toMatchObject({ structuredContent: { requests: form } });
  const result = { content: [], inputRequired: { requests: form } };
  expect(await read(result)).toEqual(result);
});

describe("an invalid question", () => {
  const property = (schema: unknown) => ({
    a: { message: "?", schema: { type: "object", properties: { p: schema } } },
  });
  test.each<[string, unknown]>([
    ["there is no request", {}],
    ['of "a", `schema` is missing', { a: { message: "?" } }],
    ['of "a", /url must be an http', { a: { message: "?", url: "file:///etc/passwd" } }],
    ["/schema is not allowed", { a: { message: "?", url: "https://a.example", schema: "form" } }],
    ["/method must be one of", { a: { method: "tools/list" } }],
    ["/url is not allowed", { a: { method: "roots/list", url: "https://a.example" } }],
    ["it has a key `__proto__`", property(JSON.parse('{ "type": "string", "__proto__": {} }'))],
    ["/schema/anyOf is not allowed", { a: { message: "?", schema: { ...name, anyOf: [] } } }],
    ["/schema/properties/p/type must be string, number, ", property({ type: "object" })],
    [
      "`enum` is missing in /schema/properties/p/items",
      property({ type: "array", items: { type: "string" } }),
    ],
    ["the requests exceed 65536 bytes", { a: { message: "x".repeat(70_000), schema: name } }],
  ])("an invalid question is a failure of the tool: %s", async (reason, requests) => {
    const fault = await read(needInput(requests as never)).catch((error) => error);
    expect(fault).toBeInstanceOf(InvalidQuestionError);
    expect(fault.message).toMatch(/^The handler asks for input with an invalid request: /);
    expect(fault.message).toContain(reason);
  });

  test.each([
    { type: "string", format: "email", default: "a@b.example" },
    { type: "string", oneOf: [{ const: "a", title: "A" }] },
    { type: "integer", minimum: 1 },
    { type: "boolean", default: true },
    { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
  ])("a form may ask for %j", async (schema) => {
    const requests = property(schema);
    const needed = await read(needInput(requests as never)).catch((error) => error);
    expect(needed).toBeInstanceOf(InputNeeded);
    expect(needed.asked).toEqual({ requests });
  });
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
    code: { message: "Who?", schema: name },
  };
  const answers = {
    who: { action: "accept", content: { name: "Ada" } },
    short: { action: "accept", content: { name: "A" } },
    page: { action: "accept", content: { hidden: 1 } },
    model: { role: "assistant" },
    roots: { roots: [{ uri: "file:///a" }] },
    odd: "accept",
    canceled: { action: "cancel", content: { name: "Ada" } },
    unasked: { action: "accept", content: {} },
    // Of a host: no other answer can have it.
    code: { action: "accept", content: { name: "Ada", when: () => 0 } },
  };
  expect(await settleAnswers(requests, answers)).toEqual({
    who: { action: "accept", content: { name: "Ada" } },
    short: { action: "decline" },
    page: { action: "accept" },
    model: { action: "decline" },
    roots: { action: "accept", content: { roots: [{ uri: "file:///a" }] } },
    odd: { action: "decline" },
    canceled: { action: "cancel" },
    code: { action: "decline" },
  });
});

test("a description of questions has nothing that a terminal interprets", () => {
  const text = listRequests({
    a: { message: "\u001b[31mWho?", url: "https://a.example" },
    b: { method: "roots/list", params: {} },
  });
  expect(text).not.toContain("\u001b");
  expect(text).toContain("https://a.example");
  expect(text).toContain("roots/list");
});
