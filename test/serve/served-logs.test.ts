// Where the log messages of a served session go. Servers end with what serves them, which each test closes.
import { join } from "node:path";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { makeProject, toolPack } from "../session/support/session.ts";
import { connectLegacy, waitForTools } from "../support/clients.ts";
import { serveOverHttp } from "../support/serve-over-http.ts";
import { textIn } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";

const pack = toolPack(
  { warn: {}, remember: {} },
  `export const warn = ({ text }, { log }) => {
  log("warning", text);
  return "warned";
};
export const remember = ({ value }, { memory }) => {
  memory.set("token", value);
  return "remembered";
};`,
);

/** A server that sends a log message at each call, and writes its arguments to stderr. */
const server = `
import { createInterface } from "node:readline";
const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: "x", version: "1" } } });
  if (method === "tools/list") send({ id, result: { tools: [{ name: "tell", inputSchema: { type: "object" } }] } });
  if (method !== "tools/call") return;
  const { level, text } = params.arguments;
  console.error("heard " + text);
  send({ method: "notifications/message", params: { level, data: { text } } });
  send({ id, result: { content: [{ type: "text", text: "told" }] } });
});`;

async function startSession() {
  const config = {
    logDir: "logs",
    sensitiveMemory: ["token"],
    trailblazeSubprocessToolsets: [{ name: "own", command: process.execPath, args: ["server.mjs"] }],
  };
  const cwd = makeProject({ "@acme/desk": pack }, { "server.mjs": server, "trailblaze.config.json": config });
  const serving = await serveOverHttp(null, { cwd, args: ["--no-watch"] });
  onTestFinished(async () => void (await serving.stop()));
  return { cwd, ...serving };
}

async function connect(url: string) {
  const client = await connectLegacy(url);
  await waitForTools(client, "tell");
  const logs: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params));
  const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  return { call, logs };
}

const readLogs = (cwd: string) => textIn(join(cwd, "logs"));

test("a log message of a tool reaches the legacy client that has called it, and no other", async () => {
  const { url } = await startSession();
  const [one, other] = [await connect(url), await connect(url)];
  await one.call("warn", { text: "for one" });
  await other.call("warn", { text: "for other" });
  await waitUntil(() => one.logs.length > 0 && other.logs.length > 0);
  expect(one.logs).toMatchObject([{ level: "warning", data: "for one" }]);
  expect(other.logs).toMatchObject([{ level: "warning", data: "for other" }]);
});

test("a server's log messages belong to no call: warnings and errors go to stderr, and none to clients", async () => {
  const serving = await startSession();
  const client = await connect(serving.url);
  for (const level of ["info", "warning", "error"]) await client.call("tell", { level, text: `an ${level}` });
  await client.call("warn", { text: "last" });
  await waitUntil(() => client.logs.length > 0 && serving.stderr().includes("an error"));
  expect(client.logs).toMatchObject([{ data: "last" }]);
  const lines = serving.stderr().split("\n");
  expect(lines).toContain('own: warning: {"text":"an warning"}');
  expect(lines).toContain('own: error: {"text":"an error"}');
  expect(serving.stderr()).not.toContain("an info");
});

test("a value that a client makes sensitive is redacted in the log file of a server and on stderr", async () => {
  const { cwd, url, stderr } = await startSession();
  const client = await connect(url);
  await client.call("tell", { level: "error", text: "pass-w0rd before" });
  // What is written before the value is known as a secret stays.
  await waitUntil(() => readLogs(cwd).includes("heard pass-w0rd before"));
  await client.call("remember", { value: "pass-w0rd" });
  await client.call("tell", { level: "error", text: "pass-w0rd after" });
  await waitUntil(() => stderr().includes("after") && readLogs(cwd).includes("after"));
  expect(readLogs(cwd)).toContain("heard [redacted] after");
  expect(stderr()).toContain("[redacted] after");
  expect(`${readLogs(cwd)}${stderr()}`).not.toContain("pass-w0rd after");
});
