// Serves test servers over stdio as `trailblaze start` does. argv: options of serveStdio as JSON, and `exit` to exit at
// its end.
import { reserveStdin, reserveStdout } from "../../../src/mcp/stdio/reserve-stdio.ts";
import { serveStdio } from "../../../src/mcp/stdio/serve-stdio.ts";
import { createTestServers } from "../../serve/test-servers.ts";

const input = reserveStdin(process);
const output = reserveStdout(process.stdout, process.stderr);

let prints = 0;
// All ways in which a handler prints without meaning to speak the protocol.
const print = (text: string) => {
  // biome-ignore lint/suspicious/noConsole: what is tested
  console.log("by console.log:", text.trim());
  // biome-ignore lint/suspicious/noConsole: what is tested
  console.table([{ by: "console.table" }]);
  process.stdout.write(`by write: ${text}`);
  process.stdout.write(Buffer.from("by bytes\n"), () => process.stderr.write("called back\n"));
  process.stdout.cork();
  process.stdout.end("by end\n");
  process.stdout.destroy();
  // And in which it reads, holds or ends what the protocol comes from.
  process.stdin.unref();
  process.stdin.setEncoding("utf16le");
  process.stdin.on("data", (data) => process.stderr.write(`stolen: ${data}\n`));
  process.stdin.on("end", () => process.stderr.write("stdin ended\n"));
  process.stdin.pause();
  process.stdin.resume();
  process.stdin.removeAllListeners("readable");
  if (++prints > 2) process.stdin.destroy(new Error("by a handler"));
};
print("at start\n");

const servers = createTestServers(print);
await serveStdio(servers.create, {
  ...JSON.parse(process.argv[2] ?? "{}"),
  input,
  output,
  onEnd: (end) => {
    const aborted = servers.slowCalls.map(({ signal }) => signal.aborted);
    process.stderr.write(`end: ${JSON.stringify({ end, closed: servers.closed.length, aborted })}\n`);
    if (process.argv[3] === "exit") process.exit();
  },
});
