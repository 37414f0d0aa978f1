import { Writable } from "node:stream";
import type { AnyTool } from "./run-tool.ts";

/** The argument of `run`: a server and its tools. */
export interface ServerOfTools {
  /** The server's name for clients. */
  name: string;
  version: string;
  /** Results of `defineTool`, or definitions whose handlers are functions. */
  tools: readonly AnyTool[];
}

/** Reserves stdout for the protocol: the rest goes to stderr. Does not cover descriptor 1 and children that inherit it. */
function reserveStdout({ stdout, stderr }: NodeJS.Process): Writable {
  const write = stdout.write.bind(stdout) as Writable["write"];
  stdout.write = stderr.write.bind(stderr) as Writable["write"];
  stdout.end = () => stdout;
  // A closed reader must not end the process; the end of the input does.
  for (const stream of [stdout, stderr]) stream.on("error", () => {});
  return new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(chunk, "utf8", done),
  });
}

/**
 * Turns the running file into an MCP server over stdio: a subprocess server with the session's context under
 * Trailblaze, a standard server under other MCP clients. Everything that is printed goes to stderr. Resolves when the
 * client has disconnected, and then ends the process. Requires `@modelcontextprotocol/sdk`. Rejects if that is missing
 * or a definition is invalid.
 */
export async function run(server: ServerOfTools): Promise<void> {
  // First, because the SDK or a tool may print when it is loaded.
  const stdout = reserveStdout(process);
  const { serveTools } = await import("./serve-tools.ts");
  await serveTools(server, stdout);
}
