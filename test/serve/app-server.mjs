// An MCP server with an app, without a library. NAME is in its own texts; with MODERN it speaks the modern era only. It notes each
// request in the file TRACE.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { NAME = "", MODERN, TRACE = "trace" } = process.env;
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const page = "ui://board/index.html";
const meta = { ui: { csp: { connectDomains: ["https://example.com"] } }, "com.example/key": [1] };
const tool = (name, _meta) => ({ name, inputSchema: { type: "object" }, _meta });
const capabilities = { tools: {}, resources: { subscribe: true }, completions: {} };
let told;

const handlers = {
  initialize: ({ protocolVersion, capabilities: declared }) => {
    if (MODERN) return undefined;
    told = declared;
    return { protocolVersion, capabilities, serverInfo: { name: "app", version: "1" } };
  },
  "server/discover": () => MODERN && { supportedVersions: ["2026-07-28"], capabilities },
  "tools/list": () => ({
    tools: [
      tool("show", { ui: { resourceUri: page }, "ui/resourceUri": page, "com.example/key": [1] }),
      tool(`own_${NAME}`, { ui: { resourceUri: `ui://board/${NAME}`, visibility: ["app"] } }),
      tool(`told_${NAME}`),
    ],
  }),
  "tools/call": ({ name, _meta }) => {
    if (name.startsWith("told"))
      return { content: [{ type: "text", text: JSON.stringify(_meta[capabilitiesKey] ?? told) }] };
    send({ method: "notifications/resources/updated", params: { uri: page } });
    const resource = { uri: "ui://made/1", text: NAME };
    const content = [
      { type: "resource_link", uri: "ui://linked/1", name: "linked" },
      { type: "resource", resource },
    ];
    return { content, _meta: { ui: { resourceUri: page }, "com.example/key": 2 } };
  },
  "resources/list": () => ({ resources: [{ uri: page, name: "board", _meta: meta }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "ui://rows/{id}", name: "row" }] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: `${NAME} ${uri}`, _meta: meta }] }),
  "resources/subscribe": () => ({}),
  "completion/complete": ({ ref }) => ({ completion: { values: [ref.uri] } }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  appendFileSync(TRACE, `${method}\n`);
  const result = handlers[method]?.(params);
  send({ id, ...(result ? { result } : { error: { code: -32601, message: "Method not found" } }) });
});
