// An MCP server without a library, so that it starts at once. It shows what it was sent, and fails as it is told to.
// PROBE_PREFIX begins the names of its tools (default "probe"); PROBE_TOOLS replaces its list of tools. It says nothing
// until the file that PROBE_GATE names exists. With PROBE_WAIT, it has a tool that waits for the file of that name.
import { appendFileSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const prefix = process.env.PROBE_PREFIX ?? "probe";
const tool = (name, extra = {}) => ({
  name: `${prefix}_${name}`,
  description: `Probe: ${name}.`,
  inputSchema: { type: "object" },
  ...extra,
});
const tools = process.env.PROBE_TOOLS
  ? JSON.parse(process.env.PROBE_TOOLS)
  : [
      tool("params"),
      tool("env"),
      tool("result"),
      tool("callback"),
      tool("crash"),
      tool("hang"),
      ...(process.env.PROBE_WAIT ? [tool("wait")] : []),
      tool("tell"),
      tool("hidden", { _meta: { "trailblaze/isForLlm": false, "trailblaze/toolset": "auth" } }),
      tool("wrapper", { _meta: { "trailblaze/isRecordable": false } }),
    ];

/** Notes a line in the file that PROBE_TRACE names. */
const trace = (sign, line) => {
  if (process.env.PROBE_TRACE) appendFileSync(process.env.PROBE_TRACE, `${sign} ${line}\n`);
};
const send = (message) => {
  const line = JSON.stringify({ jsonrpc: "2.0", ...message });
  trace("←", line);
  process.stdout.write(`${line}\n`);
};
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

async function callBack({ arguments: args, _meta: { trailblaze } }) {
  const { tool: name, with: given = {}, request = {} } = args;
  const body = {
    version: 1,
    session_id: trailblaze.sessionId,
    invocation_id: trailblaze.invocationId,
    action: { type: "call_tool", tool_name: name, arguments_json: JSON.stringify(given) },
    ...request,
  };
  const response = await fetch(`${trailblaze.baseUrl}/scripting/callback`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Authorization: `Bearer ${process.env.TRAILBLAZE_SESSION_TOKEN}`,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

async function call(params) {
  switch (params.name.slice(params.name.lastIndexOf("_") + 1)) {
    case "params":
      return text(params);
    case "env":
      return text(process.env);
    case "result": {
      const { result, bytes } = params.arguments;
      return bytes === undefined ? result : { ...result, padding: "x".repeat(bytes) };
    }
    case "callback":
    case "wrapper":
      return text(await callBack(params));
    case "crash":
      process.stderr.write("about to crash\n");
      return process.exit(params.arguments.code ?? 3);
    case "tell": {
      const token = process.env.TRAILBLAZE_SESSION_TOKEN;
      process.stderr.write(`my token is ${token}\n`);
      return text({ pid: process.pid, token });
    }
    case "wait": {
      const progressToken = params._meta.progressToken;
      send({ method: "notifications/progress", params: { progressToken, progress: 1 } });
      while (!existsSync(process.env.PROBE_WAIT)) await setTimeout(20);
      return { content: [{ type: "text", text: "waited" }] };
    }
    case "hang":
      return undefined;
    default:
      return { content: [{ type: "text", text: "called" }] };
  }
}

if (process.env.PROBE_PIDS) appendFileSync(process.env.PROBE_PIDS, `${process.pid}\n`);
// PROBE_ONCE names a file that only the first start does not find: later ones say nothing.
const isMute = process.env.PROBE_ONCE !== undefined && existsSync(process.env.PROBE_ONCE);
if (process.env.PROBE_ONCE && !isMute) appendFileSync(process.env.PROBE_ONCE, "");

// PROBE_STAY names signals that it notes and ignores; it also keeps running after the end of its input.
if (process.env.PROBE_STAY !== undefined) setInterval(() => {}, 1000);
for (const signal of process.env.PROBE_STAY?.split(" ").filter(Boolean) ?? []) {
  process.on(signal, () => trace("!", signal));
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  trace("→", line);
  const { id, method, params } = JSON.parse(line);
  if (isMute) return;
  while (process.env.PROBE_GATE && !existsSync(process.env.PROBE_GATE)) await setTimeout(20);
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "probe", version: "1.0.0" };
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === "tools/list") send({ id, result: { tools } });
  else if (method === "tools/call") {
    const result = await call(params);
    if (result !== undefined) send({ id, result });
  } else if (method === "notifications/cancelled") process.stderr.write(`cancelled ${params.requestId}\n`);
});
