import type { CommandServeOptions, RunningServer, ServeOptions } from "./serve/serve-options.ts";
import { startFoundServer } from "./serve/start-server.ts";
import { withMissingPacks } from "./session/install-missing.ts";

export type { BuiltInDefinition } from "./config/session-config.ts";
export { type Problem, TrailblazeError } from "./problems/index.ts";
export type { HttpTransport, RunningServer, ServeOptions } from "./serve/serve-options.ts";

/**
 * Serves a server of a pack, by qualified name, or one of the project's config, by its short name.
 *
 * Trust level: execution. Runs `initialize` of the server and of its tools before it is offered, and handlers when
 * clients call them; over stdio it takes this process's stdin and stdout.
 *
 * With `install`, or where the config's `packs.autoInstall` allows it, packs that it refers to are installed first.
 *
 * Rejects with a `TrailblazeError` where nothing can be served, everything it started ended: `ProjectNotFound`,
 * `InvalidConfig`, `ServerNotFound`, `ToolNotFound` and the like for its references, `InitializeFailed`,
 * `DuplicateBundleEntry`, `ServerStartFailed` (a port in use, a program that is not there).
 */
export async function startServer(server: string, options: ServeOptions = {}): Promise<RunningServer> {
  const given: CommandServeOptions = options;
  return withMissingPacks(given, () => startFoundServer(server, given));
}
