import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connectClient } from "../mcp/http/served.ts";
import { makeProject, probeServer, toolPack } from "../session/support/session.ts";
import { connectToCommand } from "../support/clients.ts";
import { hearProgress } from "../support/heard-progress.ts";
import { runMain } from "../support/main.ts";
import { collect } from "../support/processes.ts";
import { command as script } from "../support/run-cli.ts";
import { serveOverHttp } from "../support/serve-over-http.ts";
import { waitUntil } from "../support/wait-until.ts";

/** A client of a server that the built command serves over stdio. */
const connect = async (...given: Parameters<typeof connectToCommand>) =>
  (await connectToCommand(...given)).client;

const module = `
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
console.log("printed while loading");
const note = (text) => appendFileSync(new URL("order.txt", import.meta.url), text + "\\n");
export const setUp = () => note("server");
export const connect = ({ options }) => note("tool " + options.limit);
export const echo = (args, context) => {
  console.log("printed by a handler");
  process.stdout.write(Buffer.from("and again\\n"));
  process.stdout.end("and at its end\\n");
  spawnSync("sh", ["-c", "echo by a child"], { stdio: "inherit" });
  process.stdin.on("data", (data) => console.error("STOLEN " + data)).pause();
  process.stdin.destroy();
  return { args, keys: Object.keys(context), options: context.options };
};
export const wait = () => { console.error("WAITING"); return new Promise((resolve) => setTimeout(resolve, 1e9)); };
export const fail = () => { throw Object.assign(new Error("it broke"), { stack: "SECRET" }); };
export const slow = async (args, { signal, progress, log }) => {
  progress(1, 2, "half");
  log("warning", { at: "half" });
  await new Promise((resolve) => {
    signal.addEventListener("abort", () => { note("aborted"); resolve(); });
    if (args.ms) setTimeout(resolve, args.ms); else resolve();
  });
  return "done";
};
export const outer = async ({ tool, args }, { callTool }) => (await callTool(tool, args)).message;
export const typed = ({ n }) => ({ n });
export const welcome = ({ who }) => ({ messages: [{ role: "assistant", content: "Hello " + who }] });
`;

const desk = toolPack(
  {
    echo: {
      name: "search",
      _meta: { "x/y": 1 },
      annotations: { readOnlyHint: true },
      options: { limit: { default: 3 } },
      initialize: "./handlers.js#connect",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string" }, count: { type: "integer", default: 2 } },
        required: ["text"],
      },
    },
    fail: {},
    slow: {},
    outer: {},
    typed: { outputSchema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    slashed: { name: "a/b", handler: "./handlers.js#fail" },
    hidden: { handler: "./handlers.js#fail", _meta: { "trailblaze/isForLlm": false } },
    session: { handler: "./handlers.js#fail", _meta: { "trailblaze/requiresContext": true } },
  },
  module,
  {
    "package.json": {
      version: "2.1.0",
      dependencies: { other: "*" },
      trailblaze: {
        tools: ["echo", "fail", "slow", "outer", "typed", "slashed", "hidden", "session"],
        toolsets: ["all", "inner"],
        prompts: ["text", "list", "code"],
        servers: ["desk", "waiting", "lost", "slashed", "process", "broken", "bad", "web"],
      },
    },
    "trailblaze/servers/desk.yaml":
      "tools: [echo, other/search, hidden, session]\ntoolsets: [all]\nprompts: [text, list, code]\ninstructions: Be brief.\ninitialize: ./handlers.js#setUp\n",
    "trailblaze/servers/lost.yaml": "tools: [echo, nowhere]\n",
    "trailblaze/servers/waiting.yaml": "tools: [echo]\ninitialize: ./handlers.js#wait\n",
    "trailblaze/servers/slashed.yaml": "tools: [echo, slashed]\n",
    "trailblaze/servers/web.yaml": "tools: [echo]\ntransport: http\n",
    "trailblaze/servers/process.yaml": `script: ./process.js\nenv: { PROBE_PREFIX: packed }\n`,
    "trailblaze/servers/broken.yaml": "script: ./broken.js\n",
    "trailblaze/servers/bad.yaml": "tools: [echo]\ninitialize: ./handlers.js#fail\n",
    "trailblaze/toolsets/all.yaml": "name: all\ntools: [echo, fail, slow]\ntoolsets: [inner]\n",
    "trailblaze/toolsets/inner.yaml": "name: inner\ntools: [outer, typed]\n",
    "trailblaze/prompts/text.yaml":
      "name: greet\narguments: [{ name: who, required: true }, { name: how }]\ncontent: 'Hi {{who}}{{ how }}, {{who}} and ${{ x }}'\n",
    "trailblaze/prompts/list.yaml":
      "name: greet\ndescription: Two messages.\narguments: [{ name: who }]\ncontent:\n  - { role: user, content: '{{who}}?' }\n  - { role: assistant, content: { type: text, text: 'Yes, {{who}}' } }\n",
    "trailblaze/prompts/code.yaml":
      "name: code\narguments: [{ name: who }]\nhandler: ./handlers.js#welcome\n",
    "broken.js": "process.exitCode = 3;",
    "process.js": `import ${JSON.stringify(probeServer)};\n`,
  },
);
const other = toolPack({ search: {} }, "export const search = () => 'other';");
const makeDesk = (more = {}) => makeProject({ "@acme/desk": desk, other }, more);
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

describe("a composed server over stdio", () => {
  test("a composed server offers its members in order, with its identity, and numbers duplicate names", async () => {
    const client = await connect(makeDesk(), "acme/desk/desk");
    expect(client.getServerVersion()).toMatchObject({ name: "desk", version: "2.1.0" });
    expect(client.getInstructions()).toBe("Be brief.");
    const { tools } = await client.listTools();
    expect(names(tools)).toEqual(["search1", "search2", "fail", "slow", "outer", "typed"]);
    expect(tools[0]).toEqual({
      name: "search1",
      description: "The tool echo.",
      inputSchema: expect.objectContaining({ type: "object", required: ["text"] }),
      annotations: { readOnlyHint: true },
      _meta: { "x/y": 1, "trailblaze/qualifiedName": "acme/desk/echo" },
    });
    expect(tools[1]?._meta).toEqual({ "trailblaze/qualifiedName": "other/search" });
    const all = await connect(makeDesk(), "acme/desk/desk", "--all-tools");
    const offered = names((await all.listTools()).tools);
    expect(offered.filter((name) => ["hidden", "session"].includes(name))).toEqual(["hidden", "session"]);
  });

  test("a composed server initializes itself and each tool once, and calls handlers with defaults and without a session, which neither write to stdout nor read stdin", async () => {
    const cwd = makeDesk();
    const { client, stderr } = await connectToCommand(cwd, "acme/desk/desk");
    const result = await client.callTool({
      name: "search1",
      arguments: { text: "a", _trailblazeContext: { memory: {} } },
      _meta: { trailblaze: { sessionId: "forged" } },
    });
    const { keys, ...rest } = result.structuredContent as { keys: string[] };
    expect(rest).toEqual({ args: { text: "a", count: 2 }, options: { limit: 3 } });
    expect(keys.sort()).toEqual(["callTool", "log", "options", "progress", "signal"]);
    await client.callTool({ name: "search1", arguments: { text: "b" } });
    for (const text of ["printed by a handler", "and again", "and at its end", "by a child"])
      expect(stderr()).toContain(text);
    expect(stderr()).not.toContain("STOLEN");
    const order = readFileSync(join(cwd, "node_modules/@acme/desk/order.txt"), "utf8");
    expect(order).toBe("server\ntool 3\n");
    const wrong = await client.callTool({ name: "search1", arguments: { count: "x" } });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong.content)).toMatch(/\/text.*\/count|\/count.*\/text/);
    const failed = await client.callTool({ name: "fail", arguments: {} });
    expect(failed).toEqual({ content: [{ type: "text", text: "it broke" }], isError: true });
    expect((await client.callTool({ name: "typed", arguments: { n: 1 } })).structuredContent).toEqual({
      n: 1,
    });
    const untyped = await client.callTool({ name: "typed", arguments: { n: "one" } }).catch((error) => error);
    expect(JSON.stringify(untyped)).toContain("/n");
    const outer = { tool: "search2", args: {} };
    expect((await client.callTool({ name: "outer", arguments: outer })).content).toEqual([
      { type: "text", text: "other" },
    ]);
  });

  test("progress and log messages reach the client, and cancellation reaches the handler", async () => {
    const cwd = makeDesk();
    const client = await connect(cwd, "acme/desk/desk");
    const logs: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logs.push(params));
    const steps = hearProgress(client);
    const call = { name: "slow", arguments: {} };
    await client.callTool(call, undefined, { onprogress: () => {} });
    expect(steps).toEqual([{ progress: 1, total: 2, message: "half" }]);
    expect(logs).toEqual([{ level: "warning", data: { at: "half" } }]);
    await client.setLoggingLevel("error");
    await client.callTool(call);
    expect(logs).toHaveLength(1);
    const stop = new AbortController();
    const long = client.callTool({ name: "slow", arguments: { ms: 60_000 } }, undefined, {
      signal: stop.signal,
      onprogress: () => stop.abort(),
    });
    await expect(long).rejects.toThrow();
    const order = join(cwd, "node_modules/@acme/desk/order.txt");
    await waitUntil(() => readFileSync(order, "utf8").includes("aborted"));
  });

  test("a signal ends a server during its initialization", async () => {
    const child = spawn(process.execPath, [script, "start", "acme/desk/waiting"], { cwd: makeDesk() });
    const exit = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
    const said = collect(child.stderr);
    await waitUntil(() => said().includes("WAITING"));
    child.kill("SIGTERM");
    expect(await exit).toBe(0);
    expect(said()).toBe("printed while loading\nWAITING\n");
  });
});

test.each([
  ["acme/desk/broken", "ServerDied"],
  ["acme/desk/lost", "ToolNotFound"],
  ["acme/desk/bad", "InitializeFailed"],
  ["acme/desk/slashed", "InvalidAdvertisedName"],
])("the invalid server %s is reported as %s, and nothing is served", async (server, code) => {
  const run = await runMain(["start", server, "--json"], { cwd: makeDesk() });
  expect(run.exitCode).toBe(1);
  expect(JSON.parse(run.stdout).error.code).toBe(code);
});

test("a server whose definition requests HTTP uses a free port, and requires a token if one is set", async () => {
  const serving = await serveOverHttp("acme/desk/web", { cwd: makeDesk(), args: ["--token", "open-sesame"] });
  onTestFinished(async () => void (await serving.stop()));
  await expect(connectClient(serving)).rejects.toThrow();
  const { client } = await connectClient(serving, { authorization: "Bearer open-sesame" });
  expect(names((await client.listTools()).tools)).toEqual(["search"]);
});

describe("a subprocess server over stdio", () => {
  test("a subprocess server runs unchanged, with a minimal part of the host's environment", async () => {
    vi.stubEnv("HOST_SECRET", "do not leak");
    const client = await connect(makeDesk(), "acme/desk/process");
    expect(client.getServerVersion()?.name).toBe("probe");
    const { content } = await client.callTool({ name: "packed_env", arguments: {} });
    const environment = JSON.parse((content as { text: string }[])[0]?.text ?? "{}");
    expect(environment.PROBE_PREFIX).toBe("packed");
    expect(environment.HOST_SECRET).toBeUndefined();
    expect(environment.TRAILBLAZE_SESSION_ID).toBeUndefined();
  });

  test("what an env file says is not on stderr, which clients write to logs", () => {
    const say = { command: process.execPath, args: ["-e", "console.error(process.env.KEY, process.env.ON)"] };
    const config = JSON.stringify({ envFile: ".env", mcpServers: { say } });
    const cwd = makeDesk({ "trailblaze.config.json": config, ".env": "KEY=hunter2hunter2\nON=true\n" });
    const { stderr } = spawnSync(process.execPath, [script, "start", "say"], { cwd, input: "" });
    expect(stderr.toString()).toBe("[redacted] true\n");
  });

  test("the choices of the config hold for a server that is started alone", async () => {
    const program = { command: process.execPath, args: [probeServer], env: { PROBE_PREFIX: "mine" } };
    const allowed = { mcpServers: { mine: { ...program, prefix: "my", tools: { deny: ["mine_env"] } } } };
    const cwd = makeDesk({
      "trailblaze.config.json": JSON.stringify({ ...allowed, packs: { deny: ["acme/desk/packed_env"] } }),
    });
    for (const [server, kept, denied] of [
      ["mine", "my_mine_tell", "my_mine_env"],
      ["acme/desk/process", "packed_tell", "packed_env"],
    ] as const) {
      const client = await connect(cwd, server);
      expect(client.getServerVersion()?.name).toBe(server);
      const listed = names((await client.listTools()).tools);
      expect([listed.includes(kept), listed.includes(denied)]).toEqual([true, false]);
      await expect(client.callTool({ name: denied })).rejects.toMatchObject({ code: -32602 });
    }
    const all = await connect(cwd, "mine", "--all-tools");
    expect(names((await all.listTools()).tools)).toContain("my_mine_hidden");
  });
});

test("the config's servers start by their short names, with built-ins and tools of packs", async () => {
  const cwd = makeDesk({
    "trailblaze.config.yaml":
      "builtIns: [{ name: tap, description: Tap., inputSchema: {}, handler: ./tap.mjs }]\nservers: { mine: { tools: [tap, acme/desk/echo], version: 3.0.0 } }\noptions: { acme/desk/echo: { limit: 9 } }\n",
    "tap.mjs": "export default () => 'tapped';\n",
  });
  const client = await connect(cwd, "mine");
  expect(client.getServerVersion()).toMatchObject({ name: "mine", version: "3.0.0" });
  expect(names((await client.listTools()).tools)).toEqual(["tap", "search"]);
  expect((await client.callTool({ name: "tap", arguments: {} })).content).toEqual([
    { type: "text", text: "tapped" },
  ]);
  const { structuredContent } = await client.callTool({ name: "search", arguments: { text: "x" } });
  expect(structuredContent).toMatchObject({ options: { limit: 9 } });
  expect(existsSync(join(cwd, "logs"))).toBe(false);
});
