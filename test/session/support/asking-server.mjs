// A server of the SDK's version 1 that asks the user during its calls. It also asks before any call.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import * as z from "zod";

const server = new McpServer({ name: "asking", version: "1.0.0" });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const form = {
  message: "What is your name?",
  requestedSchema: {
    type: "object",
    properties: { name: { type: "string", minLength: 1 } },
    required: ["name"],
  },
};
/** The result, or the error that the client answered with. */
const tell = (answer) => answer.then(text, ({ code, message }) => text({ code, message }));

server.registerTool("ask", { inputSchema: { times: z.number().optional() } }, async ({ times = 1 }) => {
  for (let asked = 1; asked < times; asked++) await server.server.elicitInput(form);
  return tell(server.server.elicitInput(form));
});
server.registerTool("visit", {}, () =>
  tell(
    server.server.elicitInput({
      mode: "url",
      message: "Sign in.",
      url: "https://login.example/authorize?x=1",
      elicitationId: "1",
    }),
  ),
);
server.registerTool("raw", { inputSchema: { method: z.string(), params: z.any() } }, ({ method, params }) =>
  tell(server.server.request({ method, params }, z.any())),
);
server.registerTool("capabilities", {}, () => text(server.server.getClientCapabilities()));
// A question outside of a call, before the first one.
let early;
server.server.oninitialized = () => {
  early = tell(server.server.request({ method: "elicitation/create", params: form }, z.any()));
};
server.registerTool("early", {}, () => early);
server.registerPrompt("topic", {}, async () => {
  const { content } = await server.server.elicitInput(form);
  return { messages: [{ role: "user", content: { type: "text", text: `About ${content?.name}` } }] };
});
server.registerResource("name", "ask://name", {}, async ({ href }) => {
  const { content } = await server.server.elicitInput(form);
  return { contents: [{ uri: href, text: `Name ${content?.name}` }] };
});
await server.connect(new StdioServerTransport());
