// The types of @trailblaze/scripting. vitest runs this file, but it is `npm run check` that judges it: a type test says
// nothing at run time.
import { describe, expectTypeOf, test } from "vitest";
import type {
  CallToolResult,
  HandlerContext,
  ToolDefinition,
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
    void [misspelled, inTool];
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
});
