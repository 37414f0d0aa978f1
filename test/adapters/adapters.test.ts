import { describe, expect, test } from "vitest";
import {
  type AdapterOptions,
  aiSdkTools,
  anthropicTools,
  openAiTools,
  standardSchema,
} from "../../src/adapters.ts";
import type { TrailblazeError } from "../../src/problems/index.ts";
import type { HandlerContext } from "../../src/runtime/handler-context.ts";
import type { Session } from "../../src/session.ts";
import { openForTest } from "../session/support/session.ts";
import { makeTree } from "../support/packs.ts";

const png = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
const pdf = {
  type: "resource",
  resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: "JVBERg==" },
};
const audio = { type: "audio", data: "UklGRg==", mimeType: "audio/wav" };

type CallTool = (
  session: Session,
  options: AdapterOptions,
  signal?: AbortSignal,
) => Promise<unknown> | undefined;

const use = (name: string, input: unknown = {}) => ({ type: "tool_use", id: "1", name, input }) as const;

const tool = (name: string, handler: (...given: never[]) => unknown, more: object = {}) => ({
  name,
  inputSchema: { type: "object" },
  handler,
  ...more,
});

/** A session with tools of the host alone. */
async function openTools(give: () => object = () => ({})) {
  const inputSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  const wait = (_: unknown, { signal, log, progress }: HandlerContext) => {
    log("info", "begun");
    progress(1);
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  return openForTest(makeTree({ "package.json": { name: "host" } }), {
    builtIns: [
      tool("greet", ({ name }: { name: string }) => `Hello, ${name}!`, {
        description: "Greet.",
        inputSchema,
      }),
      tool("show", () => ({ content: [png, pdf, audio] })),
      tool("give", give),
      tool("fail", () => Promise.reject(new Error("It is broken."))),
      tool("wait", wait),
    ],
  });
}

const responsesCall = (name: string, written: string, id = "1") =>
  ({ type: "function_call", call_id: id, name, arguments: written }) as const;

describe("adapters for models", () => {
  test("give tools in the shape of each API, never strict, with schemas that nobody shares", async () => {
    const session = await openTools();
    const { tools } = openAiTools(session, { names: ["greet"] });
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
    const anthropic = anthropicTools(session, { names: ["greet"] });
    expect(anthropic.tools).toEqual([
      { name: "greet", description: "Greet.", input_schema: tool?.inputSchema },
    ]);
    for (const schema of [tools[0]?.parameters, anthropic.tools[0]?.input_schema])
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

  test("answer a call of a missing or left out tool, arguments that are no JSON, and others than an object", async () => {
    const session = await openTools();
    const { call } = openAiTools(session);
    const text = 'The tool "gret" does not exist. Did you mean greet?';
    expect((await call(responsesCall("gret", "{}"))).output).toBe(text);
    const missing = await anthropicTools(session).call(use("gret"));
    expect(missing).toMatchObject({ is_error: true, content: [{ text }] });
    const left = await openAiTools(session, { names: ["greet"] }).call(responsesCall("fail", "{}"));
    expect(left.output).toContain("does not exist");
    expect((await call(responsesCall("greet", '{"name": "Ada",}'))).output).toMatch(
      /trailing comma.* at line 1, column 15/,
    );
    expect((await call(responsesCall("greet", "[1]"))).output).toContain(
      "must be an object, but they are an array",
    );
    for (const none of ["", "null"])
      expect((await call(responsesCall("fail", none))).output).toContain("It is broken.");
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

  test.each<[string, CallTool]>([
    [
      "aiSdkTools",
      (session, options, abortSignal) =>
        aiSdkTools(session, options).wait?.execute({}, { toolCallId: "1", abortSignal }),
    ],
    [
      "openAiTools",
      (session, options, signal) =>
        openAiTools(session, options).call(responsesCall("wait", "{}"), signal && { signal }),
    ],
    [
      "anthropicTools",
      (session, options, signal) => anthropicTools(session, options).call(use("wait"), signal && { signal }),
    ],
  ])("%s hand on reports, and throw only for an abort, of the options or of the call", async (_name, run) => {
    const session = await openTools();
    const reports: unknown[] = [];
    const stop = new AbortController();
    const options: AdapterOptions = {
      signal: stop.signal,
      onLog: ({ level, data }) => reports.push([level, data]),
      onProgress: ({ progress }) => {
        reports.push(progress);
        stop.abort(new Error("enough"));
      },
    };
    await expect(run(session, options)).rejects.toThrow("enough");
    expect(reports).toEqual([["info", "begun"], 1]);
    await expect(run(session, options)).rejects.toThrow("enough");
    expect(reports).toHaveLength(2);
    await expect(run(session, {}, AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
  });

  test.each([
    ["a failure without words", { isError: true, content: [] }, "The tool failed without a message.", true],
    [
      "an empty image",
      { content: [{ ...png, data: "" }] },
      "[image (image/png) that this API cannot take]",
      false,
    ],
    [
      "a link",
      { content: [{ type: "resource_link", uri: "a:b", name: "b\u001b[2J", mimeType: "text/plain" }] },
      "[resource text/plain, b\\u{001b}[2J, a:b]",
      false,
    ],
    ["structured content alone", { content: [], structuredContent: { a: 1 } }, '{"a":1}', false],
  ])("give %s as every API takes it", async (_title, result, text, failed) => {
    const session = await openTools(() => result);
    expect((await openAiTools(session).call(responsesCall("give", ""))).output).toBe(text);
    expect(await anthropicTools(session).call(use("give"))).toEqual({
      type: "tool_result",
      tool_use_id: "1",
      content: [{ type: "text", text }],
      ...(failed ? { is_error: true } : {}),
    });
    const { give } = aiSdkTools(session);
    const output = await give?.execute({}, { toolCallId: "1" });
    const given = output && give?.toModelOutput({ output });
    expect(given).toEqual({ type: failed ? "error-text" : "text", value: text });
  });

  test("standardSchema hands out copies and refuses what is no object", async () => {
    const [tool] = (await openTools()).toolsForLlm();
    if (tool === undefined) throw new Error("There is no tool.");
    const { "~standard": standard } = standardSchema(tool);
    expect(standard.jsonSchema.input()).toEqual(tool.inputSchema);
    expect(standard.jsonSchema.input()).not.toBe(standard.jsonSchema.input());
    const value: NonNullable<typeof standard.types>["output"] = { name: "Ada" };
    expect(standard.validate(value)).toEqual({ value });
    expect(standard.validate("Ada").issues?.[0]?.message).toContain("must be an object");
  });
});
