import { constants } from "node:buffer";
import { describeType, isRecord } from "../../data/parse-json.ts";
import { legacyContextKey } from "../../runtime/handler-context.ts";

/** The arguments of a call, as JSON and as what that says, which shares nothing with what was given. */
export type CopiedArguments = { json: string; args: Record<string, unknown> } | { fault: string };

/** Why a value cannot be written as JSON. */
export function describeUnwritable(error: unknown): string {
  // The longest string of V8, whose own words name no limit.
  if (error instanceof RangeError && error.message === "Invalid string length") {
    return `it would have more than ${constants.MAX_STRING_LENGTH} characters`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** What JSON cannot hold reaches no tool, wherever it runs; nor does a context that the caller made up. */
export function copyArguments(given: unknown): CopiedArguments {
  if (given !== undefined && !isRecord(given)) {
    return { fault: `The arguments must be an object, but are ${describeType(given)}.` };
  }
  try {
    const { [legacyContextKey]: _, ...written } = given ?? {};
    const json: string | undefined = JSON.stringify(written);
    const args: unknown = json === undefined ? undefined : JSON.parse(json);
    // Only a `toJSON` of theirs makes something else of them.
    if (json !== undefined && isRecord(args)) return { json, args };
    return { fault: `The arguments must be an object, but as JSON are ${describeType(args)}.` };
  } catch (error) {
    return { fault: `The arguments cannot be written as JSON: ${describeUnwritable(error)}` };
  }
}
