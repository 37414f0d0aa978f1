// An MCP server without a library, so that it starts at once. It lists what the file that LISTING names says, by the names of
// the lists in MCP, and has the `instructions` of that file, which its tool `grow` reads again. It notes each method with the URI that it is about in `trace`,
// does not start while there is a file `broken`, and waits before `initialize` while there is a file `gate`, and before
// `tools/list` while there is a file `list-gate`.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const read = () => JSON.parse(readFileSync(process.env.LISTING, "utf8"));
let { instructions, ...lists } = read();
appendFileSync("pids", `${process.pid}\n`);
const { TRAILBLAZE_BASE_URL: baseUrl, TRAILBLAZE_SESSION_TOKEN: token } = process.env;
if (token !== undefined) appendFileSync("tokens", `${baseUrl} ${token}\n`);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
if (existsSync("broken")) process.exit(9);
let asked = 0;
const answers = new Map();

const handlers = {
  initialize: async ({ protocolVersion }) => {
    while (existsSync("gate")) await setTimeout(20);
    const capabilities = {
      tools: { listChanged: true },
      prompts: {},
      resources: { subscribe: true },
      completions: {},
    };
    return { protocolVersion, capabilities, serverInfo: { name: "listing", version: "1" }, instructions };
  },
  "tools/list": async () => {
    while (existsSync("list-gate")) await setTimeout(20);
    return { tools: lists.tools ?? [] };
  },
  "prompts/list": () => ({ prompts: lists.prompts ?? [] }),
  "resources/list": () => ({ resources: lists.resources ?? [] }),
  "resources/templates/list": () => ({ resourceTemplates: lists.resourceTemplates ?? [] }),
  "resources/subscribe": () => ({}),
  "resources/unsubscribe": () => ({}),
  "resources/read": ({ uri }) => ({ contents: [{ uri, text: "read" }] }),
  "prompts/get": ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: name } }] }),
  "completion/complete": () => ({ completion: { values: ["suggested"] } }),
  "tools/call": async ({ name, arguments: { uri } = {} }) => {
    if (name === "crash") process.exit(3);
    if (name === "touch") send({ method: "notifications/resources/updated", params: { uri } });
    if (name === "grow") {
      lists = read();
      send({ method: "notifications/tools/list_changed" });
    }
    const said = name === "ask" ? await ask() : { pid: process.pid };
    return { content: [{ type: "text", text: JSON.stringify(said) }] };
  },
};

function ask() {
  asked += 1;
  const id = `asked ${asked}`;
  const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
  send({ id, method: "elicitation/create", params: { message: "Who?", requestedSchema } });
  return new Promise((resolve) => answers.set(id, resolve));
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) return answers.get(id)?.(result ?? error);
  appendFileSync("trace", `${params.uri === undefined ? method : `${method} ${params.uri}`}\n`);
  if (id === undefined) return;
  const answer = await handlers[method]?.(params);
  if (answer === undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  else send({ id, result: answer });
});
