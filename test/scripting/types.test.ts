// The types of @trailblaze/scripting. vitest runs this file, but it is `npm run check` that judges it: a type test says
// nothing at run time.
import { expectTypeOf, test } from "vitest";
import type {
  CallToolResult,
  TrailblazeErrorVariant,
  TrailblazeTool,
  TrailblazeToolMeta,
  TrailblazeVariant,
} from "../../packages/scripting/src/index.ts";

const inputSchema = { type: "object" } as const;

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
