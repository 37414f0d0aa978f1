// What models do wrong, through the real clients of their providers: the loop goes on, and the model is told.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, isStepCount } from "ai";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { aiSdkTools, anthropicTools, openAiTools } from "../../src/adapters.ts";
import { openSession, type Session } from "../../src/session.ts";
import { makeTree } from "../support/packs.ts";
import { type ModelCall, startModelServer } from "./support/model-server.ts";

const prompt = "Greet Ada.";

/** Each runs one round of calls, sends the results back, and resolves with what the model then says: the results as it got them. */
const loops: [string, (session: Session, url: string) => Promise<unknown>][] = [
  [
    "Responses",
    async (session, url) => {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none" });
      const { tools, call } = openAiTools(session);
      const { output } = await client.responses.create({ model: "m", tools, input: prompt });
      const calls = output.filter((item) => item.type === "function_call");
      const input = await Promise.all(calls.map((item) => call(item)));
      await client.responses.create({ model: "m", tools, input });
      return input.map(({ call_id, output }) => [call_id, output]);
    },
  ],
  [
    "Messages",
    async (session, url) => {
      const client = new Anthropic({ baseURL: url, apiKey: "none" });
      const { tools, call } = anthropicTools(session);
      const messages: Anthropic.MessageParam[] = [{ role: "user", content: prompt }];
      const request = { model: "m", max_tokens: 9, tools };
      const { content } = await client.messages.create({ ...request, messages });
      const uses = content.filter((block) => block.type === "tool_use");
      const answers = await Promise.all(uses.map((block) => call(block)));
      await client.messages.create({
        ...request,
        messages: [...messages, { role: "user", content: answers }],
      });
      return answers.map(({ tool_use_id, content: [part] }) => [
        tool_use_id,
        part?.type === "text" ? part.text : part,
      ]);
    },
  ],
];

async function start(calls: readonly ModelCall[]) {
  const server = await startModelServer(calls);
  onTestFinished(server.close);
  const parameters = { name: { type: "string", required: true } };
  const session = await openSession({
    cwd: makeTree({ "package.json": { name: "host" } }),
    builtIns: [{ name: "greet", parameters, handler: ({ name }: { name: string }) => `Hello, ${name}!` }],
  });
  onTestFinished(() => session.close());
  return { session, server };
}

const greet = (id: string, name: string): ModelCall => ({ id, name: "greet", written: `{"name":"${name}"}` });
const missing: ModelCall = { id: "1", name: "gret", written: "{}" };
const broken: ModelCall = { id: "1", name: "greet", written: '{"name": "Ada",}' };

describe.each(loops)("a model of %s", (_api, run) => {
  test("hears that a tool is not there, beside the result of one that is", async () => {
    const { session, server } = await start([missing, greet("2", "Ada")]);
    expect(await run(session, server.url)).toEqual([
      ["1", 'There is no tool "gret". Did you mean greet?'],
      ["2", "Hello, Ada!"],
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test("hears where its arguments are no JSON", async () => {
    const { session, server } = await start([broken]);
    expect(await run(session, server.url)).toEqual([
      ["1", expect.stringMatching(/trailing comma.* at line 1, column 15/)],
    ]);
    expect(server.requests).toHaveLength(2);
  });

  test("gets two results for two calls with one id", async () => {
    const { session, server } = await start([greet("1", "Ada"), greet("1", "Bob")]);
    expect(await run(session, server.url)).toEqual([
      ["1", "Hello, Ada!"],
      ["1", "Hello, Bob!"],
    ]);
    expect(server.requests).toHaveLength(2);
  });
});

test.each([
  ["a tool that is not there", missing, "gret"],
  ["arguments that are no JSON", broken, "JSON"],
])("AI SDK goes on after %s, and tells the model", async (_title, call, told) => {
  const { session, server } = await start([call]);
  const provider = createOpenAICompatible({ name: "models", baseURL: `${server.url}/v1` });
  const tools = aiSdkTools(session);
  const { text } = await generateText({ model: provider("m"), tools, prompt, stopWhen: isStepCount(3) });
  expect(text).toContain("The tool said");
  expect(text).toContain(told);
});
