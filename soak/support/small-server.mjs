// The smallest legacy MCP server over stdio, so that 20,000 of them start in reasonable time: node small-server.mjs NAME.
// Its tool answers with its text, or fails if it is asked to.
import { LineDecoder } from "../../src/runtime/line-decoder.mjs";

const name = process.argv[2];
const inputSchema = {
  type: "object",
  properties: { text: { type: "string" }, fails: { type: "boolean" } },
  required: ["text"],
};

function answer(method, params) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: "1.0.0" } };
  }
  // A session keeps the calls that it records.
  const _meta = { "trailblaze/isRecordable": false };
  if (method === "tools/list") return { tools: [{ name, inputSchema, _meta }] };
  if (method === "ping") return {};
  if (method !== "tools/call") return undefined;
  const { text, fails } = params.arguments;
  return { content: [{ type: "text", text }], isError: fails === true };
}

function take(line) {
  const { id, method, params } = JSON.parse(line.toString());
  if (id === undefined) return;
  const result = answer(method, params);
  const reply = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
}

// Not readline, which on Node 24 also ends lines at U+2028, which JSON may contain.
const lines = new LineDecoder(64 << 20, { onLine: take, onTooLong: () => process.exit(2) });
process.stdin.on("data", (chunk) => lines.push(chunk));
