// A server of the SDK's version 2 that answers with `input_required`.
import { inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const requestedSchema = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 } },
  required: ["name"],
};
serveStdio(
  () => {
    const server = new McpServer({ name: "modern-asking", version: "1.0.0" });
    const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
    server.registerTool("ask", {}, (context) => {
      const { inputResponses } = context.mcpReq;
      const state = context.mcpReq.requestState();
      if (inputResponses !== undefined) return text({ inputResponses, state });
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({ message: "What is your name?", requestedSchema }),
          page: inputRequired.elicitUrl({ message: "Sign in.", url: "https://login.example/" }),
        },
        requestState: "round 1",
      });
    });
    server.registerTool("again", {}, (context) =>
      context.mcpReq.requestState() === "later" ? text("done") : inputRequired({ requestState: "later" }),
    );
    server.registerTool("add", { inputSchema: { a: z.number() } }, ({ a }) => text(a));
    return server;
  },
  { legacy: "reject" },
);
