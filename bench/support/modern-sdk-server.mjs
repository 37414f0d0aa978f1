// A typical server of the modern era: the SDK's version 2, over stdio, with one tool.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const name = process.argv[2] ?? "echo";
serveStdio(() => {
  const server = new Server({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name, inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: params.arguments?.text ?? "" }],
  }));
  return server;
});
