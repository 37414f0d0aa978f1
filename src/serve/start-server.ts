import { checkHttpTransport } from "../mcp/http/http-options.ts";
import { readStateKey, servedProtocols } from "../mcp/served-server.ts";
import { failure, quote } from "../problems/index.ts";
import { findServer } from "./compose-server.ts";
import type { CommandServeOptions, RunningServer } from "./serve-options.ts";

/** Throws `TrailblazeError` `InvalidArguments` for options that are invalid, or apply only to a server or only to the session. */
function checkOptions(reference: string | null, options: CommandServeOptions): void {
  const { transport = "stdio", protocol, cacheTtl = 0, session, allTools } = options;
  const invalid = (reason: string, hint?: string) => failure("InvalidArguments", { reason, hint });
  if (transport !== "stdio") checkHttpTransport(transport);
  if (protocol !== undefined && !servedProtocols.includes(protocol))
    throw invalid(`The protocol must be ${servedProtocols.join(", ")}, not ${quote(String(protocol))}`);
  if (!Number.isSafeInteger(cacheTtl * 1000) || !Number.isInteger(cacheTtl) || cacheTtl < 0)
    throw invalid(`\`cacheTtl\` must be a number of seconds, but it is ${String(cacheTtl)}`);
  if (reference === null && allTools === true) {
    const reason = "--all-tools applies only to a server, and the session is served";
    throw invalid(reason, "Name the server to start.");
  }
  if (reference !== null && session !== undefined)
    throw invalid("The options of a session apply only without a server");
  // Throws for a key that is too short, before anything starts.
  readStateKey();
}

/**
 * `null` serves the session. Throws errors of references such as `ServerNotFound`, and `InitializeFailed`, `DuplicateBundleEntry`
 * and `ServerStartFailed`.
 */
export async function startFoundServer(
  reference: string | null,
  options: CommandServeOptions = {},
): Promise<RunningServer> {
  checkOptions(reference, options);
  const target = reference === null ? undefined : await findServer(reference, options);
  options.signal?.throwIfAborted();
  const transport = options.transport ?? (target?.transport === "http" ? (options.http ?? {}) : "stdio");
  if (transport === "stdio" && options.onlyHttp !== undefined) {
    const reason = `${options.onlyHttp} applies only to HTTP, and ${reference ?? "the session"} is served over stdio`;
    throw failure("InvalidArguments", { reason, hint: "Add --http PORT." });
  }
  if (target?.plan !== undefined && transport === "stdio" && options.skillTool !== true) {
    const { passThrough } = await import("./pass-through.ts");
    return passThrough(target.plan, options);
  }
  const { startSession } = await import("./start-session.ts");
  return startSession(transport, options, target);
}
