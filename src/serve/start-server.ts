import { checkHttpTransport } from "../mcp/http/http-options.ts";
import { readStateKey, servedProtocols } from "../mcp/served-server.ts";
import { failure, quote } from "../problems/index.ts";
import { withMissingPacks } from "../session/install-missing.ts";
import { findServer } from "./compose-server.ts";
import type { CommandServeOptions, RunningServer, ServeOptions } from "./serve-options.ts";

/** Throws `TrailblazeError` `InvalidArguments` for options that are invalid, or apply only to a server or only to the session. */
function checkOptions(reference: string | null, options: CommandServeOptions): void {
  const { transport = "stdio", protocol, cacheTtl = 0, session, allTools } = options;
  const invalid = (reason: string, hint?: string) => failure("InvalidArguments", { reason, hint });
  if (transport !== "stdio") checkHttpTransport(transport);
  if (protocol !== undefined && !servedProtocols.includes(protocol))
    throw invalid(`The protocol must be ${servedProtocols.join(", ")}, not ${quote(String(protocol))}`);
  // The SDK would fail to answer anything.
  if (!Number.isSafeInteger(cacheTtl * 1000) || cacheTtl < 0)
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
 * Serves a server of a pack, by qualified name, or a server of the project's config, by its name there. The name of a pack
 * stands for its only server or, if it has none, for all its tools, prompts and resources. `null` serves the project's session: the
 * tools of all its packs and servers. That resolves at once, and `ended` rejects if the session cannot open.
 *
 * Trust level: execution. Runs `initialize` of the server and of its tools before it is offered, and handlers when
 * clients call them; over stdio it uses this process's stdin and stdout.
 *
 * With `install`, or if the config's `packs.autoInstall` allows it, missing packs that it refers to are installed first.
 *
 * If the server cannot start, rejects with a `TrailblazeError` after ending everything it started: `ProjectNotFound`,
 * `InvalidConfig`, `ServerNotFound`, `ToolNotFound` and the like for its references, `InitializeFailed`,
 * `DuplicateBundleEntry`, `ServerStartFailed` (a port in use, a missing program).
 */
export async function startServer(server: string | null, options: ServeOptions = {}): Promise<RunningServer> {
  const given: CommandServeOptions = options;
  const start = async () => {
    checkOptions(server, given);
    const target = server === null ? undefined : await findServer(server, given);
    given.signal?.throwIfAborted();
    const transport = given.transport ?? (target?.transport === "http" ? (given.http ?? {}) : "stdio");
    if (transport === "stdio" && given.onlyHttp !== undefined) {
      const reason = `${given.onlyHttp} applies only to HTTP, and ${server ?? "the session"} is served over stdio`;
      throw failure("InvalidArguments", { reason, hint: "Add --http PORT." });
    }
    if (target?.plan !== undefined && transport === "stdio" && given.skillTool !== true) {
      const { passThrough } = await import("./pass-through.ts");
      return passThrough(target.plan, given);
    }
    const { startSession } = await import("./start-session.ts");
    return startSession(transport, given, target);
  };
  // A session installs what it misses itself.
  return server === null ? start() : withMissingPacks(given, start);
}
