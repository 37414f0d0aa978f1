import { ServerCallError } from "../mcp/client/connected-server.ts";
import { TrailblazeError } from "../problems/index.ts";
import type { Cancellation } from "../runtime/abort-listeners.ts";
import type { BundleOutcome } from "../runtime/bundle.ts";
import { CodeExitError } from "../runtime/code-exit-error.ts";
import { type CodeRunners, describeCodeExit } from "../runtime/code-runners.ts";
import { createErrorResult } from "../runtime/convert-result.ts";
import type { TimeLimit } from "../runtime/time-limit.ts";
import { type CallToolResult, failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { SessionMemory } from "./session-memory.ts";
import { describeServerExit } from "./session-servers.ts";
import type { ToolRoute } from "./session-tool.ts";

interface FailedCall {
  route: ToolRoute;
  memory: SessionMemory;
  signal: Cancellation;
  limit: TimeLimit;
}

export const describeLate = ({ ms }: TimeLimit) => `The tool did not answer within ${ms} ms.`;

/**
 * The result of a call that failed with an error: an exit of its process, a timeout, or the error itself. Throws the
 * signal's reason if the caller canceled the call.
 */
export function readCallFailure(
  error: unknown,
  { route, memory, signal, limit }: FailedCall,
  { closing, runners }: { closing: AbortSignal; runners: CodeRunners },
): ToolResult {
  // An exit may end the session; its own calls must report the exit and not the closed session.
  const isByCaller = signal.aborted && !closing.aborted;
  if (route.by === "server") {
    const { server, plan } = route;
    const known = isByCaller ? undefined : server.exit;
    const exit = error instanceof ServerCallError ? error.exit : known;
    if (exit !== undefined) {
      const { exitCode, signal: by, reason, stderrTail } = exit;
      const details = { exitCode, signal: by, ...(reason && { reason }), stderr: stderrTail };
      return failedResult(describeServerExit(plan.label, exit), "FatalError", details);
    }
  } else {
    const known = isByCaller ? undefined : runners.exitOf(route.code.owner);
    const exit = error instanceof CodeExitError ? error : known;
    if (exit !== undefined) {
      const { exitCode, signal: by } = exit;
      const { message, stderr } = describeCodeExit(exit, (text) => memory.redact(text));
      return failedResult(message, "FatalError", { exitCode, signal: by, stderr });
    }
  }
  if (limit.isOver) return failedResult(describeLate(limit));
  if (signal.aborted) throw signal.reason;
  if (error instanceof TrailblazeError && route.by === "server") {
    const { code, message } = error;
    const isRefused = code === "NotApproved" || code === "LockOutdated";
    return failedResult(message, "ExceptionThrown", { code: isRefused ? code : "ServerStartFailed" });
  }
  return failedResult(error instanceof Error ? error.message : String(error));
}

/** Converts a JSON-RPC error of a bundle's entry to a failed result, with code and data as details. */
export function toErrorResult({
  error,
  uncaught,
}: Extract<BundleOutcome, { error: unknown }>): CallToolResult {
  const { code, data } = error;
  return {
    ...createErrorResult(uncaught?.message ?? error.message),
    _meta: { trailblaze: { code, ...(data === undefined ? {} : { data }) } },
  };
}
