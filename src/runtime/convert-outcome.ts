import type { CallToolResult } from "./call-tool-result.ts";
import type { Outcome } from "./code-runner.ts";
import { convertReturned, createErrorResult } from "./convert-result.ts";

/** The result of an outcome: of what was thrown the message, and nothing else. Never throws. */
export function convertOutcome(outcome: Outcome): CallToolResult {
  if ("thrown" in outcome) return createErrorResult(outcome.thrown.message);
  try {
    return convertReturned(outcome.returned);
  } catch {
    // Only a child whose code wants to can send that.
    return createErrorResult("The handler returned something that is no JSON.");
  }
}
