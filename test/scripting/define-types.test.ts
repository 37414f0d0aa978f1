// What `defineTool` and the others infer, and what they do not let through. It is `npm run check` that judges it.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type CallToolResult,
  definePrompt,
  defineResource,
  defineServer,
  defineTool,
  defineToolset,
  type run,
  type ToolContext,
  type ToolDefinition,
  type TrailblazeClient,
  type TrailblazeContext,
} from "../../packages/scripting/src/index.ts";
import { invoke } from "../../packages/scripting/src/testing.ts";

declare module "../../packages/scripting/src/client.ts" {
  interface InstalledTools {
    types_issue: { arguments: { issueKey: string; depth?: number }; result: { summary: string } };
    types_refresh: { arguments: { force?: boolean } };
  }
}

type ServerTools = Parameters<typeof run>[0]["tools"];

describe("types of arguments in defineTool", () => {
  test("defineTool infers argument types from JSON Schema", () => {
    const tool = defineTool({
      name: "a_b",
      inputSchema: {
        type: "object",
        properties: {
          summary: { type: "string" },
          labels: { type: "array", items: { type: "string" }, default: [] },
          priority: { enum: ["low", "high"] },
          size: { type: ["integer", "null"] },
          reporter: {
            type: "object",
            properties: { name: { type: "string" }, age: { type: "number" } },
            required: ["name"],
          },
          either: { anyOf: [{ type: "string" }, { const: 7 }] },
          anything: { description: "Whatever." },
        },
        required: ["summary", "reporter"],
      },
      handler(args, context) {
        expectTypeOf(args.summary).toEqualTypeOf<string>();
        expectTypeOf(args.labels).toEqualTypeOf<string[]>();
        expectTypeOf(args.priority).toEqualTypeOf<"low" | "high" | undefined>();
        expectTypeOf(args.size).toEqualTypeOf<number | null | undefined>();
        expectTypeOf(args.reporter).toEqualTypeOf<{ name: string; age?: number }>();
        expectTypeOf(args.either).toEqualTypeOf<string | 7 | undefined>();
        expectTypeOf(args.anything).toEqualTypeOf<unknown>();
        expectTypeOf(args._trailblazeContext).toEqualTypeOf<TrailblazeContext | undefined>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        // @ts-expect-error: no such argument
        void args.sumary;
        return args.summary;
      },
    });
    expectTypeOf(tool).toExtend<ToolDefinition<never>>();
    const call = () => {
      void invoke(tool, { summary: "x", reporter: { name: "Ada" } });
      // @ts-expect-error: the summary is required
      void invoke(tool, { reporter: { name: "Ada" } });
    };
    void call;
  });

  test("defineTool infers argument types from parameters", () => {
    const tool = defineTool({
      name: "a_b",
      parameters: {
        cents: { type: "integer", required: true },
        coupon: { type: "string" },
        max: { default: 3, type: "number" },
      },
      handler: ({ cents, coupon, max }) => {
        expectTypeOf(cents).toEqualTypeOf<number>();
        expectTypeOf(coupon).toEqualTypeOf<string | undefined>();
        expectTypeOf(max).toEqualTypeOf<number>();
        return cents;
      },
    });
    void (() => invoke(tool, { cents: 1 }));
    // @ts-expect-error: cents is a number
    void (() => invoke(tool, { cents: "1" }));
  });

  test("defineTool infers the output type of zod for handlers and the input type for callers", () => {
    const tool = defineTool({
      name: "a_b",
      inputSchema: z.object({
        when: z.string().transform((text) => new Date(text)),
        n: z.number().default(2),
      }),
      handler: async ({ when, n }, { client }) => {
        expectTypeOf(when).toEqualTypeOf<Date>();
        expectTypeOf(n).toEqualTypeOf<number>();
        expectTypeOf(client).toEqualTypeOf<TrailblazeClient>();
      },
    });
    void (() => invoke(tool, { when: "now" }));
    // @ts-expect-error: callers give a text
    void (() => invoke(tool, { when: new Date() }));
    expectTypeOf<typeof tool>().toExtend<ServerTools[number]>();
  });

  test("defineTool infers the type of a handler's result from outputSchema", () => {
    const outputSchema = {
      type: "object",
      properties: { celsius: { type: "number" }, sky: { enum: ["sun", "rain"] }, rest: { type: "object" } },
      required: ["celsius"],
    } as const;
    const tool = { name: "a_b", inputSchema: { type: "object" }, outputSchema } as const;
    defineTool({ ...tool, handler: () => ({ celsius: 21 }) });
    defineTool({ ...tool, handler: async () => ({ celsius: 21, sky: "rain", more: [1] }) });
    defineTool({ ...tool, handler: () => ({ content: [], isError: true }) });
    // @ts-expect-error: celsius is required
    defineTool({ ...tool, handler: () => ({ sky: "sun" }) });
    // @ts-expect-error: celsius is a number
    defineTool({ ...tool, handler: async () => ({ celsius: "21" }) });
    // @ts-expect-error: a text is no structured content
    defineTool({ ...tool, handler: () => "21" });
    defineTool({ ...tool, handler: async ({ sky }) => ({ celsius: 21, sky: sky ? "sun" : "rain" }) });
  });
});

describe("definitions that do not compile", () => {
  const handler = () => "x";
  const inputSchema = { type: "object" } as const;

  test("misspelled keys do not compile", () => {
    const key = () =>
      defineTool({
        name: "a_b",
        inputSchema,
        handler,
        // @ts-expect-error: description is misspelled
        descripton: "x",
      });
    // @ts-expect-error: there is no such key
    const server = () => defineServer({ tools: [], port: 7 });
    // @ts-expect-error: tools are a list
    const toolset = () => defineToolset({ name: "a", tools: "b" });
    const prompt = () =>
      definePrompt({
        name: "a",
        // @ts-expect-error: roles are user and assistant
        content: [{ role: "system", content: { type: "text", text: "" } }],
      });
    // @ts-expect-error: content and a handler
    const both = () => definePrompt({ name: "a", content: "…", handler: "./lib/a.js" });
    void [key, server, toolset, prompt, both];
  });
});

test("defineResource infers the variables of a template", () => {
  defineResource({
    name: "page",
    uriTemplate: "docs://{book}/{page}",
    handler: ({ uri, book, page, ...others }, { client, signal }) => {
      expectTypeOf([uri, book, page]).toEqualTypeOf<string[]>();
      expectTypeOf(others).toEqualTypeOf<Record<never, never>>();
      expectTypeOf(client).toEqualTypeOf<TrailblazeClient>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return new Uint8Array();
    },
    subscribe: ({ book }, { signal, changed }) => {
      expectTypeOf(book).toEqualTypeOf<string>();
      signal.addEventListener("abort", changed);
    },
    complete: {
      book: ["guide"],
      page: async (value, { arguments: { book = "" }, signal }) => [value, book, String(signal.aborted)],
    },
  });
  defineResource({
    name: "logo",
    uri: "docs://logo",
    handler: ({ uri }) => ({ contents: [{ uri, blob: "AAAA", mimeType: "image/png" }] }),
  });
  const unknown = () =>
    defineResource({
      name: "page",
      uriTemplate: "docs://{page}",
      text: "",
      // @ts-expect-error: the template has no such variable
      complete: { book: [] },
    });
  // @ts-expect-error: a URI has no variables
  const fixed = () => defineResource({ name: "a", uri: "docs://a", text: "", complete: { a: [] } });
  // @ts-expect-error: a text and a file
  const two = () => defineResource({ name: "a", uri: "docs://a", text: "", file: "./a.md" });
  // @ts-expect-error: a URI and a template
  const both = () => defineResource({ name: "a", uri: "docs://a", uriTemplate: "docs://{a}", text: "" });
  // @ts-expect-error: neither a URI nor a template
  const none = () => defineResource({ name: "a", text: "" });
  // @ts-expect-error: a number is no content
  const number = () => defineResource({ name: "a", uri: "docs://a", handler: () => 7 });
  void [unknown, fixed, two, both, none, number];
});

test("definePrompt infers argument types", () => {
  definePrompt({
    name: "weekly",
    arguments: [{ name: "week", required: true }, { name: "tone" }],
    handler: ({ week, tone }) => {
      expectTypeOf(week).toEqualTypeOf<string>();
      expectTypeOf(tone).toEqualTypeOf<string | undefined>();
      return week;
    },
  });
});

test("the client has the types of declared tools", () => {
  const use = async ({ tools, callTool }: TrailblazeClient) => {
    const { structuredContent } = await tools.types_issue({ issueKey: "DEMO-1" });
    expectTypeOf(structuredContent).toEqualTypeOf<{ summary: string } | undefined>();
    expectTypeOf(await tools.types_refresh()).toEqualTypeOf<CallToolResult>();
    expectTypeOf(await callTool("whatever")).toEqualTypeOf<CallToolResult>();
    // @ts-expect-error: the key is required
    await tools.types_issue({});
    // @ts-expect-error: nothing declares it
    await tools.types_nothing();
  };
  void use;
});
