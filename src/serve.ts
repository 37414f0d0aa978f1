import type { CommandServeOptions, RunningServer, ServeOptions } from "./serve/serve-options.ts";
import { startFoundServer } from "./serve/start-server.ts";
import { withMissingPacks } from "./session/install-missing.ts";

export type { BuiltInDefinition } from "./config/session-config.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type {
  HttpTransport,
  RunningServer,
  ServedSessionOptions,
  ServeOptions,
} from "./serve/serve-options.ts";

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
  // A session installs what it misses itself.
  if (server === null) return startFoundServer(server, given);
  return withMissingPacks(given, () => startFoundServer(server, given));
}
