import { reserveStdout } from "./reserve-stdout.ts";
import type { ServerOfTools } from "./serve-tools.ts";

/**
 * Turns the running file into an MCP server over stdio: a subprocess server with the session's context under
 * Trailblaze, a standard server under other MCP clients. Everything that is printed goes to stderr. Resolves when the
 * client has disconnected, and then ends the process. Requires `@modelcontextprotocol/sdk`. Rejects if that is missing
 * or a definition is invalid.
 */
export async function run(server: ServerOfTools): Promise<void> {
  // First, because the SDK or a tool may print when it is loaded.
  const write = reserveStdout(process.stdout, process.stderr);
  const { serveTools } = await import("./serve-tools.ts");
  await serveTools(server, write);
}
