import { Client as ModernClient } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type AdapterOptions,
  aiSdkTools,
  anthropicTools,
  mcpTransport,
  openAiTools,
  standardSchema,
} from "../../src/adapters.ts";
import type { TrailblazeError } from "../../src/problems/index.ts";
import type { HandlerContext } from "../../src/runtime/handler-context.ts";
import { openSession } from "../../src/session.ts";
import { makeTree } from "../support/packs.ts";

const png = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
const pdf = {
  type: "resource",
  resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: "JVBERg==" },
};
const audio = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };

/** A session with tools of the host alone. */
async function openTools() {
  const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const session = await openSession({
    cwd: makeTree({ "package.json": { name: "host" } }),
    builtIns: [
      {
        name: "greet",
        description: "Greet.",
        inputSchema,
        handler: ({ name }: { name: string }) => `Hello, ${name}!`,
      },
      { name: "show", inputSchema: { type: "object" }, handler: () => ({ content: [png, pdf, audio] }) },
      {
        name: "fail",
        inputSchema: { type: "object" },
        handler: () => {
          throw new Error("It is broken.");
        },
      },
      {
        name: "wait",
        inputSchema: { type: "object" },
        handler: (
          _args: unknown,
          { signal, log, progress }: Pick<HandlerContext, "signal" | "log" | "progress">,
        ) => {
          log("info", "begun");
          progress(1);
          return new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(signal.reason)),
          );
        },
      },
    ],
  });
  onTestFinished(() => session.close());
  return session;
}

const responsesCall = (name: string, written: string, id = "1") =>
  ({ type: "function_call", call_id: id, name, arguments: written }) as const;

describe("adapters for models", () => {
  test("give tools in the shape of each API, never strict, with schemas that nobody shares", async () => {
    const session = await openTools();
    const { tools, chatTools } = openAiTools(session, { names: ["greet"] });
    const [tool] = session.toolsForLlm();
    expect(tools).toEqual([
      {
        type: "function",
        name: "greet",
        description: "Greet.",
        parameters: tool?.inputSchema,
        strict: false,
      },
    ]);
    expect(chatTools[0]?.function).toEqual({
      name: "greet",
      description: "Greet.",
      parameters: tool?.inputSchema,
    });
    expect(chatTools[0]?.function).not.toHaveProperty("strict");
    const anthropic = anthropicTools(session, { names: ["greet"] });
    expect(anthropic.tools).toEqual([
      { name: "greet", description: "Greet.", input_schema: tool?.inputSchema },
    ]);
    for (const schema of [
      tools[0]?.parameters,
      chatTools[0]?.function.parameters,
      anthropic.tools[0]?.input_schema,
    ])
      Object.assign(schema ?? {}, { properties: {} });
    expect(session.toolsForLlm()[0]?.inputSchema).toHaveProperty("properties.name");
    expect(openAiTools(session).tools[0]?.parameters).toHaveProperty("properties.name");
  });

  test.each([
    ["ToolNotFound", { names: ["gret"] }],
    ["ToolsetNotFound", { toolsets: ["triage"] }],
  ])("throw %s for an unknown name in the options", async (code, options: AdapterOptions) => {
    const session = await openTools();
    for (const adapt of [aiSdkTools, openAiTools, anthropicTools]) {
      expect(() => adapt(session, options)).toThrow(expect.objectContaining({ code }) as TrailblazeError);
    }
  });

  test("answer a call of a missing tool, arguments that are no JSON, and others than an object", async () => {
    const { call } = openAiTools(await openTools());
    expect((await call(responsesCall("gret", "{}"))).output).toBe(
      'There is no tool "gret". Did you mean greet?',
    );
    expect((await call(responsesCall("greet", '{"name": "Ada",}'))).output).toMatch(
      /trailing comma.* at line 1, column 15/,
    );
    expect((await call(responsesCall("greet", "[1]"))).output).toContain(
      "must be a JSON object, but they are an array",
    );
    expect((await call(responsesCall("greet", "{}"))).output).toContain("name");
    expect((await call(responsesCall("fail", ""))).output).toContain("It is broken.");
  });

  test("answer megabytes of arguments, and two calls with one id", async () => {
    const { call } = openAiTools(await openTools());
    const long = "x".repeat(5 << 20);
    const [one, other] = await Promise.all([
      call(responsesCall("greet", JSON.stringify({ name: long }), "same")),
      call(responsesCall("greet", '{"name":"Ada"}', "same")),
    ]);
    expect(one).toEqual({ type: "function_call_output", call_id: "same", output: `Hello, ${long}!` });
    expect(other).toEqual({ type: "function_call_output", call_id: "same", output: "Hello, Ada!" });
    const tooLong = await call(responsesCall("greet", `"${"x".repeat(17 << 20)}"`));
    expect(tooLong.output).toContain("at most 16777216 are read");
  });

  test("give images and documents as each API has them, and words for the rest", async () => {
    const session = await openTools();
    const missing = "[audio (audio/wav) that this API cannot take]";
    const responses = await openAiTools(session).call(responsesCall("show", "{}"));
    expect(responses.output).toEqual([
      { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "auto" },
      { type: "input_file", file_data: "data:application/pdf;base64,JVBERg==", filename: "document.pdf" },
      { type: "input_text", text: missing },
    ]);
    const chat = await openAiTools(session).call({
      id: "1",
      type: "function",
      function: { name: "show", arguments: "" },
    });
    expect(chat).toMatchObject({ role: "tool", tool_call_id: "1" });
    expect(chat.content).toContain("[image (image/png) that this API cannot take]");
    const block = await anthropicTools(session).call({ type: "tool_use", id: "1", name: "show", input: {} });
    expect(block).toEqual({
      type: "tool_result",
      tool_use_id: "1",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" } },
        { type: "text", text: missing },
      ],
    });
    const { show } = aiSdkTools(session);
    const output = await show?.execute({}, { toolCallId: "1" });
    expect(output && show?.toModelOutput({ output })).toEqual({
      type: "content",
      value: [
        { type: "file-data", data: "iVBORw0KGgo=", mediaType: "image/png" },
        { type: "file-data", data: "JVBERg==", mediaType: "application/pdf" },
        { type: "file-data", data: "UklGRg==", mediaType: "audio/wav" },
      ],
    });
  });

  test("mark a call that fails as an error, and throw only for an abort", async () => {
    const session = await openTools();
    const failed = await anthropicTools(session).call({ type: "tool_use", id: "1", name: "fail", input: {} });
    expect(failed).toMatchObject({
      is_error: true,
      content: [{ text: expect.stringContaining("It is broken.") }],
    });
    const { fail } = aiSdkTools(session);
    const output = await fail?.execute({}, { toolCallId: "1" });
    expect(output && fail?.toModelOutput({ output })).toMatchObject({ type: "error-text" });

    const reports: unknown[] = [];
    const stop = new AbortController();
    const { call } = openAiTools(session, {
      signal: stop.signal,
      onLog: ({ level, data }) => reports.push([level, data]),
      onProgress: ({ progress }) => {
        reports.push(progress);
        stop.abort(new Error("enough"));
      },
    });
    await expect(call(responsesCall("wait", "{}"))).rejects.toThrow("enough");
    expect(reports).toEqual([["info", "begun"], 1]);
  });

  test("standardSchema hands out copies and refuses what is no object", async () => {
    const [tool] = (await openTools()).toolsForLlm();
    if (tool === undefined) throw new Error("There is no tool.");
    const { "~standard": standard } = standardSchema(tool);
    expect(standard.jsonSchema.input()).toEqual(tool.inputSchema);
    expect(standard.jsonSchema.input()).not.toBe(standard.jsonSchema.input());
    expect(standard.validate({ name: "Ada" })).toEqual({ value: { name: "Ada" } });
    expect(standard.validate("Ada").issues?.[0]?.message).toContain("must be an object");
  });
});

describe("mcpTransport", () => {
  test.each([
    ["version 1", () => new Client({ name: "host", version: "1.0.0" })],
    ["version 2", () => new ModernClient({ name: "host", version: "1.0.0" })],
  ])(
    "connects a client of the SDK's %s to an open session, and closing it leaves the session open",
    async (_title, create) => {
      const session = await openTools();
      const client = create() as Client;
      await client.connect(mcpTransport(session));
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(["greet", "show", "fail", "wait"]);
      const { content } = await client.callTool({ name: "greet", arguments: { name: "Ada" } });
      expect(content).toEqual([{ type: "text", text: "Hello, Ada!" }]);
      await client.close();
      expect((await session.callTool("greet", { name: "Bob" })).message).toBe("Hello, Bob!");
    },
  );

  test("closing the session ends the connection", async () => {
    const session = await openTools();
    const client = new Client({ name: "host", version: "1.0.0" });
    await client.connect(mcpTransport(session));
    const ended = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await session.close();
    await ended;
    await expect(client.listTools()).rejects.toThrow();
  });

  test("a closed session refuses the connection", async () => {
    const session = await openTools();
    await session.close();
    const client = new Client({ name: "host", version: "1.0.0" });
    await expect(client.connect(mcpTransport(session))).rejects.toThrow("closed");
  });
});
