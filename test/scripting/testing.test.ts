// What authors test their packs with: no host, no process.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, OutsideSessionError } from "../../packages/scripting/src/index.ts";
import { needInput } from "../../packages/scripting/src/result.ts";
import { createMockClient, createMockContext, invoke } from "../../packages/scripting/src/testing.ts";

const greet = defineTool({
  name: "greeter_greet",
  parameters: { name: { type: "string", required: true }, greeting: { type: "string", default: "Hello" } },
  options: { mark: { default: "!" }, unset: {} },
  async handler({ name, greeting }, { log, options, memory, progress, device }) {
    log("info", { name });
    await progress(1, 1);
    memory?.set("greeted", name);
    return { text: `${greeting}, ${name}${String(options.mark)}`, platform: device?.platform ?? null };
  },
});

describe("invoke", () => {
  test("invoke adds defaults and returns a result", async () => {
    const context = createMockContext({ options: { mark: "." }, memory: { greeted: "Bob", user: "42" } });
    expect(await invoke(greet, { name: "Ada" }, { context })).toEqual({
      content: [{ type: "text", text: '{"text":"Hello, Ada.","platform":"WEB"}' }],
      structuredContent: { text: "Hello, Ada.", platform: "WEB" },
    });
    expect(context.logs).toEqual([{ level: "info", data: { name: "Ada" } }]);
    expect(context.steps).toEqual([{ progress: 1, total: 1 }]);
    expect(context.remembered()).toEqual({ greeted: "Ada", user: "42" });
  });

  test("invoke runs both rounds of a handler that asks", async () => {
    const schema = { type: "object", properties: { name: { type: "string", enum: ["Ada"] } } } as const;
    const who = { message: "Who?", schema };
    const asking = defineTool({
      name: "greeter_ask",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      handler: (_args, { input, state }) =>
        input?.who === undefined
          ? needInput({ who }, { state: { greeting: "Hello" } })
          : { text: `${state.greeting}, ${input.who.content?.name ?? "nobody"}` },
    });
    expect(await invoke(asking, {})).toEqual({
      content: [{ type: "text", text: "The tool needs input." }],
      isError: true,
      _meta: {
        trailblaze: { variant: "InputRequired", inputRequests: { who }, state: { greeting: "Hello" } },
      },
    });
    const input = { who: { action: "accept", content: { name: "Ada" } } } as const;
    const context = createMockContext({ input, state: { greeting: "Hello" } });
    expect((await invoke(asking, {}, { context })).structuredContent).toEqual({ text: "Hello, Ada" });
  });

  test("invoke reports missing or invalid arguments as a host does", async () => {
    expect(await invoke(greet, {} as never)).toEqual({
      content: [{ type: "text", text: 'Invalid arguments for "greeter_greet": /name is required' }],
      isError: true,
    });
    const typed = defineTool({
      name: "a_b",
      inputSchema: z.object({ n: z.number() }),
      handler: ({ n }) => n,
    });
    expect(await invoke(typed, { n: "1" } as never)).toMatchObject({ isError: true });
    expect(await invoke(typed, { n: 1 })).toEqual({ content: [{ type: "text", text: "1" }] });
  });

  test("invoke converts anything that a handler throws, and rejects a reference in place of a handler", async () => {
    const broken = defineTool({
      name: "a_b",
      parameters: {},
      handler: () => {
        throw new Error("It broke.");
      },
    });
    expect(await invoke(broken, {})).toMatchObject({ content: [{ text: "It broke." }], isError: true });
    const elsewhere = defineTool({ name: "a_b", parameters: {}, handler: "./lib/a.js" });
    await expect(invoke(elsewhere, {})).rejects.toThrow("must be a function");
  });
});

describe("mock clients", () => {
  const caller = defineTool({
    name: "a_b",
    parameters: { tool: { type: "string", required: true } },
    handler: async ({ tool }, { client, callTool }) => {
      await callTool(tool, { x: 1 });
      return await client.callTool(tool);
    },
  });

  test("outside a session, only a mock client makes calls; without one, a call rejects as in a host", async () => {
    const context = createMockContext({ inSession: false });
    await expect(context.client.callTool("given", {})).rejects.toThrow(OutsideSessionError);
    const result = await invoke(caller, { tool: "given" }, { context });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("outside a Trailblaze session") }],
    });
    const client = createMockClient({ given: "hello" });
    expect(await invoke(caller, { tool: "given" }, { context, client })).not.toHaveProperty("isError");
  });

  test("a mock client answers from its stubs and records calls", async () => {
    const client = createMockClient({
      text: "hello",
      given: ({ x = 0 }) => ({ x }),
      whole: { content: [], isError: true },
      broken: () => {
        throw new Error("It broke.");
      },
    });
    expect(await invoke(caller, { tool: "text" }, { client })).toEqual({
      content: [{ type: "text", text: "hello" }],
    });
    expect(await invoke(caller, { tool: "given" }, { client })).toMatchObject({
      structuredContent: { x: 0 },
    });
    expect(await invoke(caller, { tool: "whole" }, { client })).toEqual({ content: [], isError: true });
    expect(await invoke(caller, { tool: "broken" }, { client })).toMatchObject({ isError: true });
    expect(client.calls.slice(0, 2)).toEqual([
      { name: "text", args: { x: 1 } },
      { name: "text", args: {} },
    ]);
    const { tools } = client as unknown as { tools: Record<string, (args?: object) => Promise<unknown>> };
    expect(await tools.given?.({ x: 3 })).toMatchObject({ structuredContent: { x: 3 } });
  });
});
