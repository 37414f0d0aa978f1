// A typical server of the modern era: the SDK's version 2, over stdio, with one tool. Its
// arguments: the name of the tool, and `reject` to refuse legacy clients.
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const [name = "echo", legacy = "serve"] = process.argv.slice(2);
const createServer = () => {
  const server = new Server({ name, version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name, inputSchema: { type: "object", properties: { text: { type: "string" } } } }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: params.arguments?.text ?? "" }],
  }));
  return server;
};
serveStdio(createServer, { legacy });
