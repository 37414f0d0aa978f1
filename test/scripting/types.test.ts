// The types of @trailblaze/scripting. vitest runs this file, but it is `npm run check` that judges it: a type test says
// nothing at run time.
import { describe, expectTypeOf, test } from "vitest";
import type {
  CallToolResult,
  HandlerContext,
  ToolDefinition,
  ToolHandler,
  TrailblazeContext,
  TrailblazeErrorVariant,
  TrailblazeTool,
  TrailblazeToolMeta,
  TrailblazeVariant,
} from "../../packages/scripting/src/index.ts";

const inputSchema = { type: "object" } as const;

describe("the metadata of a tool", () => {
  test("metadata has a type for every trailblaze key", () => {
    const tool: TrailblazeTool = {
      name: "shop_signIn",
      description: "Sign in to the shop.",
      inputSchema: { type: "object", properties: { user: { type: "string" } }, required: ["user"] },
      annotations: { readOnlyHint: false },
      _meta: {
        "trailblaze/isForLlm": true,
        "trailblaze/surfaceToLlm": true,
        "trailblaze/isRecordable": false,
        "trailblaze/requiresHost": true,
        "trailblaze/supportedDrivers": ["playwright-native"],
        "trailblaze/supportedPlatforms": ["IOS", "android"],
        "trailblaze/toolset": "auth",
        "trailblaze/requiresContext": true,
      },
    };
    expectTypeOf(tool._meta).toEqualTypeOf<TrailblazeToolMeta | undefined>();
  });

  test("unknown trailblaze keys do not compile", () => {
    // @ts-expect-error: isForLlm is misspelled
    const misspelled: TrailblazeToolMeta = { "trailblaze/isForLm": true };
    const inTool: TrailblazeTool = {
      name: "shop_signIn",
      inputSchema,
      // @ts-expect-error: supportedPlatforms is misspelled
      _meta: { "trailblaze/supportedPlatform": ["IOS"] },
    };
    // @ts-expect-error: there is no key without a name
    const nameless: TrailblazeToolMeta = { "trailblaze/": true };
    // @ts-expect-error: keys differ in case
    const otherCase: TrailblazeToolMeta = { "trailblaze/IsForLlm": true };
    void [misspelled, inTool, nameless, otherCase];
  });

  test("values of the wrong type do not compile", () => {
    // @ts-expect-error: a boolean is needed
    const text: TrailblazeToolMeta = { "trailblaze/isRecordable": "yes" };
    // @ts-expect-error: a list is needed
    const single: TrailblazeToolMeta = { "trailblaze/supportedDrivers": "playwright-native" };
    // @ts-expect-error: there is no such platform
    const platform: TrailblazeToolMeta = { "trailblaze/supportedPlatforms": ["DESKTOP"] };
    // @ts-expect-error: a tool joins one toolset
    const several: TrailblazeToolMeta = { "trailblaze/toolset": ["auth", "shop"] };
    void [text, single, platform, several];
  });

  test("keys of other vendors are allowed", () => {
    const meta: TrailblazeToolMeta = {
      "trailblaze/isForLlm": true,
      "com.example/owner": { team: "checkout" },
      "example/rank": 1,
      "trail/length": 12,
      "trailblazer/own": true,
      "trailblaze.example/own": true,
      "Trailblaze/own": true,
      "2fa/required": true,
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      title: "Sign in",
    };
    expectTypeOf(meta["com.example/owner"]).toEqualTypeOf<unknown>();
    expectTypeOf(meta["trailblaze/isForLlm"]).toEqualTypeOf<boolean | undefined>();
  });
});

describe("results", () => {
  test("failures have the type of their variant", () => {
    const result: CallToolResult = {
      content: [{ type: "text", text: "issueKey is missing" }],
      isError: true,
      _meta: { trailblaze: { variant: "MissingRequiredArgs", missing: ["issueKey"] } },
    };
    expectTypeOf(result._meta?.trailblaze?.variant).toEqualTypeOf<TrailblazeErrorVariant | undefined>();
    expectTypeOf<TrailblazeVariant>().toEqualTypeOf<
      | "Success"
      | "ExceptionThrown"
      | "MissingRequiredArgs"
      | "MaestroValidationError"
      | "FatalError"
      | "InputRequired"
    >();
    // @ts-expect-error: a failing tool cannot name success
    const success: CallToolResult = { content: [], _meta: { trailblaze: { variant: "Success" } } };
    void success;
  });

  test("session memory is written as strings", () => {
    const result: CallToolResult = {
      content: [],
      _meta: { trailblaze: { memoryDelta: { user: "42" }, memoryDeletions: ["token"], requestId: 7 } },
    };
    // @ts-expect-error: memory holds texts
    const number: CallToolResult = { content: [], _meta: { trailblaze: { memoryDelta: { user: 42 } } } };
    void [result, number];
  });
});

describe("definitions", () => {
  test("a tool has a function or a reference as handler", () => {
    const definition: ToolDefinition<{ issueKey: string }> = {
      name: "jira_getIssue",
      parameters: { issueKey: { type: "string", description: "Key of the issue.", required: true } },
      handler: async ({ issueKey, _trailblazeContext }, context) => {
        expectTypeOf(issueKey).toEqualTypeOf<string>();
        expectTypeOf(_trailblazeContext).toEqualTypeOf<TrailblazeContext | undefined>();
        expectTypeOf(context).toEqualTypeOf<HandlerContext>();
        const related = await context.callTool("acme/jira/search", { text: issueKey });
        return related.isError ? related : `${issueKey} is open`;
      },
    };
    const referring: ToolDefinition = { name: "a_b", inputSchema, handler: "./lib/tools.js#getIssue" };
    const misspelled: ToolDefinition = {
      name: "a_b",
      inputSchema,
      handler: "./lib/tools.js",
      // @ts-expect-error: isForLlm is misspelled
      _meta: { "trailblaze/isForLLM": true },
    };
    void [definition, referring, misspelled];
  });

  test("handlers may return any value that converts to a result", () => {
    expectTypeOf<() => string>().toExtend<ToolHandler>();
    expectTypeOf<() => void>().toExtend<ToolHandler>();
    expectTypeOf<() => Promise<{ cents: number }>>().toExtend<ToolHandler>();
    expectTypeOf<() => string[]>().toExtend<ToolHandler>();
    expectTypeOf<() => bigint>().not.toExtend<ToolHandler>();
    expectTypeOf<(args: { cents: number }) => number>().toExtend<ToolHandler<{ cents: number }>>();
  });
});
