// A file that `run` makes a server, in a real session and under the MCP SDK's own client.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { jsonOf, openForTest } from "../session/support/session.ts";
import { hearProgress } from "../support/heard-progress.ts";
import { makeTree } from "../support/packs.ts";
import { collect, isRunning } from "../support/processes.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";
import { waitUntil } from "../support/wait-until.ts";
import { linkPackages, scriptingPackage } from "./support/scripting-package.ts";

const server = readFileSync(inRepository("test/scripting/support/tools-server.mjs"), "utf8");
const device = { platform: "ios", widthPixels: 390, heightPixels: 844, driverType: "ios-host" };

function makeServerProject(extra: Record<string, unknown> = {}): string {
  const project = makeTree({
    "package.json": { name: "app", version: "1.0.0", type: "module" },
    "server.mjs": server,
    ...scriptingPackage,
    ...extra,
  });
  linkPackages(project, ["@modelcontextprotocol/sdk", "zod"]);
  return project;
}

const subprocess = { name: "probe", command: process.execPath, args: ["server.mjs"] };
const config = { trailblazeSubprocessToolsets: [subprocess], logDir: "logs", memory: { userId: "42" } };

describe("a server run in a session", () => {
  test("handlers get the session's context, checked arguments, defaults, and memory to write, and call back", async () => {
    const greet = {
      name: "greeter_greet",
      description: "Greets.",
      inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      handler: ({ name }: Record<string, unknown>) => ({ greeting: `Hello, ${name}!` }),
    };
    const session = await openForTest(makeServerProject(), { config, device, builtIns: [greet] });
    const result = await session.callTool("probe_context", { label: "x" });
    expect(result.variant).toBe("Success");
    expect(jsonOf(result)).toEqual({
      args: { count: 3, label: "x" },
      legacy: { memory: { userId: "42" }, device: { ...device, platform: "IOS" } },
      read: {
        memory: { userId: "42" },
        device: { ...device, platform: "IOS" },
        sessionId: session.id,
        invocationId: expect.any(String),
      },
      sessionId: session.id,
      hasInvocation: true,
      device: { ...device, platform: "IOS" },
      user: "42",
      inherited: null,
      options: { limit: 5 },
      rest: ["callTool", "client", "log", "progress", "signal"],
    });
    const refused = await session.callTool("probe_context", { count: "many" });
    expect(refused).toMatchObject({ variant: "ExceptionThrown" });
    expect(refused.message).toBe(
      'Invalid arguments for "probe_context": /label is required; /count must be integer',
    );

    // What a call that succeeds writes to memory is stored in the session.
    const kept = await session.callTool("probe_remember", { key: "name", value: "Ada", remove: "userId" });
    expect(kept.structuredContent).toEqual({ seen: "Ada" });
    expect([...session.memory]).toEqual([["name", "Ada"]]);
    const failed = await session.callTool("probe_remember", { key: "name", value: "Bob", fail: true });
    expect(failed).toMatchObject({ variant: "FatalError", message: "Nothing is kept." });
    expect([...session.memory]).toEqual([["name", "Ada"]]);

    const asked = await session.callTool("probe_ask", { tool: "greeter_greet", with: { name: "Ada" } });
    const greeting = {
      content: [{ type: "text", text: '{"greeting":"Hello, Ada!"}' }],
      structuredContent: { greeting: "Hello, Ada!" },
      isError: false,
    };
    expect(asked.structuredContent).toEqual({ result: greeting, typed: greeting });
    expect(session.memory.get("asked")).toBe("greeter_greet");

    const inner = await session.callTool("probe_ask", { tool: "greeter_greet", with: {} });
    expect(inner.variant).toBe("Success");
    expect(inner.structuredContent).toMatchObject({ result: { isError: true } });
    const unknown = await session.callTool("probe_ask", { tool: "greeter_wave", with: {} });
    expect(unknown.structuredContent).toMatchObject({ result: { isError: true } });
  });

  test("results equal those of a host, and stdout carries only MCP messages", async () => {
    const project = makeServerProject();
    const session = await openForTest(project, { config });
    const variantOf = async (tool: string) => {
      const { variant, message } = await session.callTool(tool, {});
      return `${variant}: ${message}`;
    };
    expect(await variantOf("probe_noise")).toBe("Success: quiet");
    expect(await variantOf("probe_odd_content")).toBe("Success: odd");
    expect(await variantOf("probe_big")).toBe(
      "ExceptionThrown: The handler returned a value that JSON cannot represent: it cannot be written: Do not know how to serialize a BigInt.",
    );
    expect(await variantOf("probe_missing")).toBe("MissingRequiredArgs: Missing required argument: issueKey");
    expect(await variantOf("probe_typed")).toContain("/n must be number");
    expect(await variantOf("probe_throws")).toBe("ExceptionThrown: It broke.");
    for (let call = 0; call < 2; call++) expect(await variantOf("probe_first")).toBe("Success: 1");
    expect(await variantOf("probe_hidden")).toBe("Success: no session");
    expect(session.problems).toEqual([]);
    await session.close();
    const log = readFileSync(join(session.logDir, "probe.log"), "utf8");
    expect(log).toContain("a line of noise");
    expect(log).toContain("half a line");
  });
});

async function connect(project: string, capabilities = {}, answer: (asked: object) => object = () => ({})) {
  const transport = new StdioClientTransport({ ...subprocess, cwd: project, stderr: "pipe" });
  const stderr = collect(transport.stderr);
  const client = new Client({ name: "another-client", version: "1.0.0" }, { capabilities });
  if ("elicitation" in capabilities)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params) as never);
  const logged: unknown[] = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, transport, logged, stderr };
}

describe("a server run by another MCP client", () => {
  test("tools work without a context, and those that require one are not listed", async () => {
    const { client } = await connect(makeServerProject());
    expect(client.getServerVersion()).toMatchObject({ name: "probe", version: "1.2.3" });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("probe_hidden");
    expect(tools.find(({ name }) => name === "probe_context")?.inputSchema).toEqual({
      type: "object",
      properties: { count: { type: "integer", default: 3 }, label: { type: "string" } },
      required: ["label"],
    });
    const shown = await client.callTool({ name: "probe_context", arguments: { label: "x" } });
    const nothing = { legacy: null, sessionId: null, hasInvocation: false, device: null, user: null };
    expect(shown.structuredContent).toMatchObject(nothing);
    const hidden = await client.callTool({ name: "probe_hidden" });
    expect(hidden.content).toEqual([{ type: "text", text: "no session" }]);
    const asked = await client.callTool({ name: "probe_ask", arguments: { tool: "probe_big" } });
    expect(asked).toMatchObject({ isError: true });
    expect(JSON.stringify(asked.content)).toContain("outside a Trailblaze session");
    await expect(client.callTool({ name: "probe_none" })).rejects.toMatchObject({ code: -32602 });
  });

  test("a handler that asks runs again with the answer, and is told if it does not match", async () => {
    const answers = [
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { name: "A" } },
      { action: "decline" },
    ];
    const asked: object[] = [];
    const { client } = await connect(makeServerProject(), { elicitation: {} }, (params) => {
      asked.push(params);
      return answers[asked.length - 1] ?? { action: "cancel" };
    });
    const call = async (args = {}) => await client.callTool({ name: "probe_question", arguments: args });
    expect((await call()).structuredContent).toEqual({ who: answers[0], state: [1] });
    expect(asked).toMatchObject([{ message: "Who?", requestedSchema: { required: ["name"] } }]);
    expect((await call()).structuredContent).toEqual({ who: { action: "decline" }, state: [1] });
    expect((await call()).structuredContent).toEqual({ who: { action: "decline" }, state: [1] });
    const always = await call({ always: true });
    expect(always).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("8 times") }] });
    const visit = await call({ url: "https://a.example" });
    expect(visit).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("Visit.") }] });
    expect(asked).toHaveLength(11);
  });

  test("a request that cannot be asked is a failure, and is told on stderr", async () => {
    const asked: object[] = [];
    const { client, stderr } = await connect(makeServerProject(), { elicitation: { url: {} } }, (params) => {
      asked.push(params);
      return { action: "cancel" };
    });
    const misasked = [{}, { a: { message: "?" } }];
    for (const requests of misasked) {
      const result = await client.callTool({ name: "probe_misask", arguments: { requests } });
      const text = "The handler asks for input with an invalid request: ";
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) }] });
      await waitUntil(() => stderr().includes(`probe_misask: ${text}`));
    }
    expect(asked).toEqual([]);
  });

  test("results and schemas that cannot be used are failures of the call alone", async () => {
    const source = `import { run } from "@trailblaze/scripting";
      const tool = (name, handler, more) => ({ name, inputSchema: { type: "object" }, handler, ...more });
      const schema = (property) => ({ type: "object", properties: { a: property } });
      const trailblaze = { variant: "InputRequired", inputRequests: 1 };
      await run({ name: "probe", version: "1.2.3", tools: [
        tool("foreign", () => ({ content: [], _meta: { trailblaze } })),
        tool("unchecked", () => "text", { outputSchema: {} }),
        tool("bad_input", () => "text", { inputSchema: schema({ pattern: "(" }) }),
        tool("bad_output", () => ({}), { outputSchema: schema({ type: "objekt" }) }),
      ] });`;
    const { client } = await connect(makeServerProject({ "server.mjs": source }));
    const call = (name: string) => client.callTool({ name });
    expect(await call("foreign")).toEqual({
      content: [],
      _meta: { trailblaze: { variant: "InputRequired", inputRequests: 1 } },
    });
    expect(await call("unchecked")).toEqual({ content: [{ type: "text", text: "text" }] });
    for (const [name, reason] of [
      ["bad_input", "/properties/a/pattern"],
      ["bad_output", "/properties/a/type"],
    ] as const)
      expect(await call(name)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining(reason) }],
      });
  });

  test("progress and log messages reach the client, canceling aborts, and the process ends with its client", async () => {
    const { client, transport, logged, stderr } = await connect(makeServerProject());
    const steps = hearProgress(client);
    const result = await client.callTool({ name: "probe_steps" }, undefined, { onprogress: () => {} });
    expect(result.content).toMatchObject([{ text: expect.stringMatching(/^TypeError: Call progress/) }]);
    expect(steps).toEqual([
      { progress: 1, total: 2, message: "half" },
      { progress: 2, total: 2 },
    ]);
    expect(logged).toEqual([
      { level: "warning", logger: "probe", data: { careful: true } },
      { level: "info", logger: "probe", data: "(not representable as JSON)" },
    ]);

    const { pid } = transport;
    const controller = new AbortController();
    const call = client.callTool({ name: "probe_slow" }, undefined, { signal: controller.signal });
    await client.callTool({ name: "probe_first" });
    controller.abort("enough");
    await expect(call).rejects.toThrow("enough");
    await waitUntil(() => stderr().includes("aborted: true"));
    // `close` also sends SIGTERM after 2 s, which may be before a busy machine runs the server again.
    (transport as unknown as { _process: ChildProcess })._process.stdin?.end();
    await waitUntil(() => stderr().includes("the client has gone"));
    await waitUntil(() => pid !== null && !isRunning(pid));
  });
});

describe("servers that cannot run", () => {
  const start = async (source: string, { withSdk = true } = {}) => {
    const project = makeTree({
      "package.json": { name: "app", version: "1.0.0", type: "module" },
      "server.mjs": `import { run } from "@trailblaze/scripting";\n${source}`,
      ...scriptingPackage,
    });
    mkdirSync(join(project, "node_modules"), { recursive: true });
    if (withSdk) linkPackages(project, ["@modelcontextprotocol/sdk", "zod"]);
    const { PATH = "" } = process.env;
    const options = { cwd: project, env: { PATH }, timeoutMs: 100_000 };
    return await runProcess(process.execPath, ["server.mjs"], options);
  };
  const tool = `{ name: "a_b", inputSchema: { type: "object" }, handler: () => "x" }`;

  test("a valid server exits with 0 when stdin closes, even if timers are pending", async () => {
    const source = `setInterval(() => {}, 1000);
      await run({ name: "x", version: "1.0.0", tools: [${tool}] });`;
    expect(await start(source)).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  });

  test.each([
    ["the SDK is missing", tool, "@modelcontextprotocol/sdk"],
    ["a name twice", `${tool}, ${tool}`, 'name "a_b"'],
    ["a reference", `{ ...${tool}, handler: "./x.js" }`, 'The handler of the tool "a_b" must be a function'],
  ])("a server with this error does not start: %s", async (what, tools, message) => {
    const source = `await run({ name: "x", version: "1.0.0", tools: [${tools}] });`;
    const { stdout, stderr, exitCode } = await start(source, { withSdk: what !== "the SDK is missing" });
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(exitCode).toBe(1);
  });
});
