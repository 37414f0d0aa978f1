import { reserveStdout } from "./reserve-stdout.ts";
import type { ServerOfTools } from "./serve-tools.ts";

/**
 * Makes the running file an MCP server over stdio: under Trailblaze a subprocess server with the session's context,
 * under any other MCP client a server like others. Whatever is printed from now on goes to stderr. Resolves when the
 * client has gone, and sees to it that the process then ends. Needs `@modelcontextprotocol/sdk` installed. Rejects if
 * that is missing, or a definition cannot be served.
 */
export async function run(server: ServerOfTools): Promise<void> {
  // Before anything else: what the SDK or a tool prints must not reach the protocol.
  const write = reserveStdout(process.stdout, process.stderr);
  const { serveTools } = await import("./serve-tools.ts");
  await serveTools(server, write);
}
