// What handlers ask, asked of clients of both versions of the SDK. Servers and clients end with their test.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { TrailblazeConfig } from "../../src/config/generated/config-type.ts";
import { clock } from "../../src/runtime/time-limit.ts";
import { type RunningServer, startServer } from "../../src/serve.ts";
import { post } from "../mcp/http/served.ts";
import { capabilitiesKey, headersFor, modern } from "../mcp/modern/modern-served.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { makeProject, projectTree, toolPack } from "../session/support/session.ts";
import {
  connectLegacy,
  connectModern,
  connectToCommand,
  serveForTest,
  waitForTools,
} from "../support/clients.ts";
import { inRepository } from "../support/repository.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";

const handlers = `
import { appendFileSync } from "node:fs";
import { needInput } from "@trailblaze/scripting/result";
const note = (text) => appendFileSync(new URL("./runs.txt", import.meta.url), text + "\\n");
const name = { type: "object", properties: { name: { type: "string", minLength: 2 } }, required: ["name"] };
const who = { who: { message: "Who are you?", schema: name } };

export const greet = (args, { input, state }) => {
  note("greet");
  if (input?.who === undefined) return needInput(who, { state: { asked: 1 } });
  const { action, content } = input.who;
  return action === "accept" ? "Hello " + content.name + " " + JSON.stringify(state) : action;
};
export const visit = (args, { input }) =>
  input === undefined ? needInput({ page: { message: "Sign in", url: "https://a.example/login" } }) : input.page;
export const twice = (args, { input, state }) => {
  if (input === undefined) return needInput({ a: { message: "First?", schema: name } });
  if (state === undefined) return needInput({ b: { message: "Second?", schema: name } }, { state: input.a.content.name });
  return { a: state, input };
};
export const greedy = () => (note("greedy"), needInput(who));
export const wrong = () => needInput({ who: { message: "Who?", schema: { type: "object", properties: { p: {} } } } });
export const model = (args, { input }) =>
  input ?? needInput({
    llm: { method: "sampling/createMessage", params: { messages: [], maxTokens: 5 } },
    roots: { method: "roots/list" },
  });
export const outer = async (args, { callTool, input }) => {
  note("outer");
  const inner = await callTool("greet", {});
  const again = await callTool("greet", {});
  if (input === undefined) return needInput({ own: { message: "And?", schema: name } });
  return { inner: inner.content[0].text, again: again.content[0].text, own: input.own.content.name };
};
export const page = (args, { input }) => input === undefined ? needInput(who) : "Page of " + input.who.content?.name;
export const topic = (args, { input }) =>
  input === undefined
    ? needInput({ topic: { message: "Topic of " + args.of + "?", schema: name } })
    : "About " + (input.topic.content?.name ?? input.topic.action);
const ask = async (callTool) => JSON.parse((await callTool("old_ask")).content[0].text).content.name;
export const row = async (args, { callTool }) =>
  [await ask(callTool), (await callTool("greet")).content[0].text, await ask(callTool)];
`;
const tools = ["greet", "visit", "twice", "greedy", "wrong", "model", "outer"];
const pack = toolPack(Object.fromEntries([...tools, "row"].map((tool) => [tool, {}])), handlers, {
  "package.json": {
    type: "module",
    trailblaze: { prompts: ["topic", "wrong"], resources: ["page", "wrong"], servers: ["desk"] },
  },
  "trailblaze/prompts/wrong.json": { name: "wrong", handler: "./handlers.js#wrong" },
  "trailblaze/resources/wrong.json": {
    name: "wrong",
    uri: "desk://wrong",
    handler: "./handlers.js#wrong",
  },
  "trailblaze/resources/page.json": { name: "page", uri: "desk://page", handler: "./handlers.js#page" },
  "trailblaze/prompts/topic.json": {
    name: "topic",
    arguments: [{ name: "of", required: true }],
    handler: "./handlers.js#topic",
  },
  "trailblaze/servers/desk.json": {
    tools,
    prompts: ["topic", "wrong"],
    resources: ["page", "wrong"],
  },
});

const makeDesk = (isolation = "in-process") =>
  makeProject({ "@acme/desk": pack }, { "trailblaze.config.json": { isolation }, ...scriptingPackage });

async function serveDesk(cwd = makeDesk(), config?: TrailblazeConfig) {
  const { url } = await serveForTest("acme/desk/desk", { cwd, config });
  return { url, runs: () => readRuns(cwd) };
}

/** A server for all tests of the file that need none of their own. Returns its URL once it is running. */
function shareServer(server: string | null, config: TrailblazeConfig = {}): () => string {
  const folder = makeTemporaryFolder();
  let running: RunningServer | undefined;
  beforeAll(async () => {
    writeTree(folder.path, projectTree({ "@acme/desk": pack }, scriptingPackage));
    running = await startServer(server, { cwd: folder.path, config, transport: { port: 0 } });
  });
  afterAll(async () => {
    await running?.close();
    folder.remove();
  });
  return () => running?.url ?? "";
}

const deskUrl = shareServer("acme/desk/desk");

const entry = (name: string, file: string) => ({
  name,
  command: process.execPath,
  args: [inRepository(`test/session/support/${file}`)],
});
const sessionConfig = {
  logDir: "logs",
  trailblazeSubprocessToolsets: [entry("old", "asking-server.mjs"), entry("new", "modern-asking-server.mjs")],
};
const sessionUrl = shareServer(null, sessionConfig);

const readRuns = (cwd: string): string[] => {
  const path = join(cwd, "node_modules/@acme/desk/runs.txt");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

interface Asked {
  message: string;
  mode?: string;
  url?: string;
  requestedSchema?: object;
}

/** How a client's user answers, and what the client declared. */
interface User {
  capabilities?: object;
  answer?: (asked: Asked) => object | Promise<object>;
}

const named = (name: string) => ({ action: "accept", content: { name } });
const both = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const said = { role: "assistant", content: { type: "text", text: "hi" }, model: "m" };
const roots = { roots: [{ uri: "file:///a" }] };

/** A user who notes what is asked. */
function noting(answer = (_: Asked): object => named("Ada")) {
  const asked: Asked[] = [];
  const note = (params: Asked) => {
    asked.push(params);
    return answer(params);
  };
  return { asked, answer: note };
}

const eras = ["legacy", "modern"] as const;
type Era = (typeof eras)[number];

async function connect(
  era: Era,
  url: string,
  { capabilities = both, answer = () => named("Ada") }: User = {},
): Promise<LegacyClient> {
  const elicit = async ({ params }: { params: unknown }) => (await answer(params as Asked)) as never;
  if (era === "legacy") {
    const client = await connectLegacy(url, capabilities);
    if ("elicitation" in capabilities) client.setRequestHandler(ElicitRequestSchema, elicit);
    if ("sampling" in capabilities) client.setRequestHandler(CreateMessageRequestSchema, () => said as never);
    if ("roots" in capabilities) client.setRequestHandler(ListRootsRequestSchema, () => roots);
    return client;
  }
  const client = await connectModern(url, capabilities);
  if ("elicitation" in capabilities) client.setRequestHandler("elicitation/create", elicit);
  if ("sampling" in capabilities) client.setRequestHandler("sampling/createMessage", () => said as never);
  if ("roots" in capabilities) client.setRequestHandler("roots/list", () => roots);
  return client as unknown as LegacyClient;
}

async function connectToSession(era: Era, user: User): Promise<LegacyClient> {
  const client = await connect(era, sessionUrl(), user);
  await waitForTools(client, "old_ask", "new_ask");
  return client;
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;
const jsonOf = (result: object) => JSON.parse(textOf(result) ?? "");
const call = (client: LegacyClient, name: string) => client.callTool({ name, arguments: {} });

describe.each(eras)("a %s client", (era) => {
  test.each(["in-process", "process"])(
    "a client is asked, and the handler runs again with the answer and its state: %s",
    async (isolation) => {
      const { url, runs } = await serveDesk(makeDesk(isolation));
      const { asked, answer } = noting();
      const client = await connect(era, url, { answer });
      expect(textOf(await call(client, "greet"))).toBe('Hello Ada {"asked":1}');
      expect(asked).toMatchObject([
        { message: "[acme/desk] Who are you?", requestedSchema: { required: ["name"] } },
      ]);
      expect(runs()).toEqual(["greet", "greet"]);
    },
  );

  test("handlers of tools, prompts and resources may ask for a page, the model and roots, and twice, with the answers of the last round", async () => {
    const { asked, answer } = noting(({ url, message }) => {
      if (url !== undefined) return { action: "accept" };
      return named(message === "[acme/desk] First?" ? "one" : "two");
    });
    const client = await connect(era, deskUrl(), { answer });
    expect(textOf(await call(client, "visit"))).toBe('{"action":"accept"}');
    expect(asked).toMatchObject([{ mode: "url", url: "https://a.example/login" }]);
    expect(jsonOf(await call(client, "model"))).toMatchObject({
      llm: { action: "accept", content: { model: "m" } },
      roots: { action: "accept", content: roots },
    });
    expect(jsonOf(await call(client, "twice"))).toEqual({ a: "one", input: { b: named("two") } });
    expect(await client.getPrompt({ name: "topic", arguments: { of: "life" } })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "About two" } }],
    });
    expect(await client.readResource({ uri: "desk://page" })).toMatchObject({
      contents: [{ text: "Page of two" }],
    });
  });

  test("what handlers may not ask fails, and is told on stderr", async () => {
    const client = await connect(era, deskUrl());
    let stderr = "";
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      stderr += text;
      return true;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const reason =
      'The handler asks for input with an invalid request: of "who", `type` is missing in /schema/properties/p.';
    const tool = await call(client, "wrong");
    expect(tool.isError).toBe(true);
    expect(textOf(tool)).toContain(reason);
    const failing = { code: -32603, message: expect.stringContaining(reason) };
    await expect(client.getPrompt({ name: "wrong" })).rejects.toMatchObject(failing);
    await expect(client.readResource({ uri: "desk://wrong" })).rejects.toMatchObject(failing);
    expect(stderr.match(/wrong: The handler asks for input with an invalid request/g)).toHaveLength(3);
  });

  test("what a called tool asks is asked, and so is what its caller asks after it", async () => {
    const { url, runs } = await serveDesk();
    let count = 0;
    const client = await connect(era, url, { answer: () => named(`user ${++count}`) });
    expect(jsonOf(await call(client, "outer"))).toEqual(
      era === "modern"
        ? { inner: 'Hello user 1 {"asked":1}', again: 'Hello user 2 {"asked":1}', own: "user 3" }
        : { inner: 'Hello user 4 {"asked":1}', again: 'Hello user 5 {"asked":1}', own: "user 3" },
    );
    expect(runs().filter((one) => one === "outer")).toHaveLength(era === "modern" ? 4 : 2);
  });
});

describe("a legacy client", () => {
  test("one that cannot be asked gets a failure that says what is asked", async () => {
    const { url, runs } = await serveDesk();
    for (const [tool, capabilities, text] of [
      ["greet", {}, "Who are you?"],
      ["model", { sampling: {} }, "roots/list"],
    ] as const) {
      const result = await call(await connect("legacy", url, { capabilities }), tool);
      expect(result.isError).toBe(true);
      expect(textOf(result)).toContain(text);
    }
    expect(runs()).toEqual(["greet"]);
  });

  test("canceling a call and disconnecting end an open question, and the handler does not run again", async () => {
    const { url, runs } = await serveDesk();
    const { asked: open, answer } = noting(() => new Promise<never>(() => {}));
    const client = await connect("legacy", url, { answer });
    const controller = new AbortController();
    const canceled = client.callTool({ name: "greet", arguments: {} }, undefined, {
      signal: controller.signal,
    });
    canceled.catch(() => {});
    await waitUntil(() => open.length === 1);
    controller.abort();
    await expect(canceled).rejects.toThrow();
    // The session is still usable.
    expect(textOf(await call(client, "wrong"))).toContain("`type` is missing");
    const ended = call(client, "greet");
    ended.catch(() => {});
    await waitUntil(() => open.length === 2);
    await client.close();
    await expect(ended).rejects.toThrow();
    const other = await connect("legacy", url, { capabilities: {} });
    await call(other, "greet");
    expect(runs()).toEqual(["greet", "greet", "greet"]);
  });
});

interface AskedOrAnswered {
  requestState: string;
  inputRequests: object;
  content: { text: string }[];
}
const request = (name: string, more: object = {}, capabilities: object = both) =>
  modern("tools/call", { name, arguments: {}, ...more }, { meta: { [capabilitiesKey]: capabilities } });
async function send(url: string, message: ReturnType<typeof modern>, headers = {}) {
  const response = await post({ url }, message, { ...headersFor(message), ...headers });
  const text = await response.text();
  const json = text.startsWith("{") ? text : (/^data: (\{.*)$/m.exec(text)?.[1] ?? "{}");
  return { status: response.status, ...(JSON.parse(json) as { result: AskedOrAnswered }) };
}

describe("a modern request", () => {
  const answered = { inputResponses: { who: named("Ada") } };

  test("a broken state, or one of another request, is refused, and the handler does not run", async () => {
    const { url, runs } = await serveDesk();
    const { requestState } = (await send(url, request("greet"))).result;
    const refused = { error: { code: -32602 } };
    const tries: [string, object][] = [
      ["greet", { ...answered, requestState: `${requestState}x` }],
      ["greedy", { ...answered, requestState }],
      ["greet", { ...answered, requestState: 5 }],
    ];
    for (const [name, more] of tries)
      expect(await send(url, request(name, more)), JSON.stringify(more)).toMatchObject(refused);
    expect(runs()).toEqual(["greet"]);
  });

  test.each<[string, object, object]>([
    ["greet", { elicitation: { url: {} } }, { elicitation: { form: {} } }],
    ["visit", { elicitation: {} }, { elicitation: { url: {} } }],
    ["model", { roots: {} }, { sampling: {} }],
  ])(
    "a modern client lacks a capability for %s with %j",
    async (name, capabilities, requiredCapabilities) => {
      expect(await send(deskUrl(), request(name, {}, capabilities))).toMatchObject({
        status: 400,
        error: { code: -32021, data: { requiredCapabilities } },
      });
    },
  );
});

describe.each(eras)("a project's session that is served to a %s client", (era) => {
  test("what tools ask, also those that a tool calls, reaches the client", async () => {
    const { asked, answer } = noting(({ url }) => (url === undefined ? named("Ada") : { action: "accept" }));
    const client = await connectToSession(era, { answer });
    expect(textOf(await call(client, "greet"))).toBe('Hello Ada {"asked":1}');
    const outer = jsonOf(await call(client, "outer"));
    expect(outer).toMatchObject({ inner: 'Hello Ada {"asked":1}', own: "Ada" });
    asked.length = 0;
    expect(jsonOf(await call(client, "new_ask"))).toEqual({
      inputResponses: { who: named("Ada"), page: { action: "accept" } },
      state: "round 1",
    });
    expect(asked.map(({ message }) => message)).toEqual(["[new] What is your name?", "[new] Sign in."]);
  });
});

describe("a legacy server that asks in the middle of a request", () => {
  test("a legacy client is asked, for tools, prompts and resources, if it can be", async () => {
    const mute = await connectToSession("legacy", { capabilities: {} });
    expect(jsonOf(await call(mute, "old_ask")).message).toContain("cannot be asked");
    let count = 0;
    const client = await connectToSession("legacy", { answer: () => named(`user ${++count}`) });
    const ask = (times?: number) => client.callTool({ name: "old_ask", arguments: { times } });
    expect(jsonOf(await ask(3))).toEqual(named("user 3"));
    expect(await client.getPrompt({ name: "old_topic" })).toMatchObject({
      messages: [{ content: { text: "About user 4" } }],
    });
    expect(await client.readResource({ uri: "ask://name" })).toMatchObject({
      contents: [{ text: "Name user 5" }],
    });
    // A question of a pack's tool between two of the server.
    expect(jsonOf(await call(client, "row"))).toEqual(["user 6", 'Hello user 7 {"asked":1}', "user 8"]);
  });

  test("no client is asked what names no call, once the server has worked for several since it was idle", async () => {
    const { url } = await serveForTest(null, { cwd: makeProject({}), config: sessionConfig });
    const asked: string[] = [];
    const refused: unknown[] = [];
    const answer = ({ message }: Asked) => {
      asked.push(message);
      return named("Bob");
    };
    const other = await connect("legacy", url, { answer });
    const stop = new AbortController();
    const client = await connect("legacy", url, {
      answer: async ({ message }) => {
        asked.push(message);
        refused.push(await call(other, "old_ask"));
        return named("Ada");
      },
    });
    refused.push(await client.callTool({ name: "old_ask", arguments: { times: 2 } }));
    expect(asked).toEqual(["[old] What is your name?"]);
    // It is idle now.
    expect(jsonOf(await call(other, "old_ask"))).toEqual(named("Bob"));
    const silent = await connect("legacy", url, {
      answer: () => {
        stop.abort();
        return new Promise<object>(() => {});
      },
    });
    const canceled = silent.callTool({ name: "old_ask" }, undefined, { signal: stop.signal });
    await expect(canceled).rejects.toThrow();
    // The server may still work for the call that its client has canceled.
    refused.push(await call(other, "old_ask"));
    expect(refused).toHaveLength(3);
    for (const result of refused) expect(textOf(result)).toContain("works for several users");
    // At most for ten minutes.
    const later = vi.spyOn(clock, "now").mockImplementation(() => performance.now() + 600_000);
    onTestFinished(() => later.mockRestore());
    expect(jsonOf(await call(other, "old_ask"))).toEqual(named("Bob"));
  });

  test("a modern client is not asked, and the server learns why", async () => {
    const { asked, answer } = noting();
    const client = await connectToSession("modern", { answer });
    const refused =
      /asks in the middle of a call, and this client answers only .* "\[old\] What is your name\?"/;
    expect(jsonOf(await call(client, "old_ask")).message).toMatch(refused);
    const failing = { message: expect.stringMatching(refused) };
    await expect(client.getPrompt({ name: "old_topic" })).rejects.toMatchObject(failing);
    await expect(client.readResource({ uri: "ask://name" })).rejects.toMatchObject(failing);
    expect(asked).toEqual([]);
  });
});

describe.each(eras)("calls that the config asks the user of a %s client about", (era) => {
  const calls = { ask: ["greet"], deny: ["acme/desk/greedy"] };
  const serve = () => serveDesk(makeDesk(), { calls });
  const denied = { isError: true, _meta: { trailblaze: { code: "CallDenied", variant: "ExceptionThrown" } } };

  test("one question a call comes before its handler runs, whatever that asks; a decline denies the call", async () => {
    const { url, runs } = await serve();
    let action = "accept";
    const { asked, answer } = noting(({ message }) =>
      message.startsWith("Call ") ? { action } : named("Ada"),
    );
    const client = await connect(era, url, { answer });
    const messages = () => asked.map(({ message }) => message);
    expect(textOf(await call(client, "greet"))).toBe('Hello Ada {"asked":1}');
    const question = 'Call "greet" of "acme/desk"? Arguments: {}';
    expect(messages()).toEqual([question, "[acme/desk] Who are you?"]);
    action = "decline";
    expect(await call(client, "greet")).toMatchObject(denied);
    expect(await call(client, "greedy")).toMatchObject(denied);
    expect(messages().slice(2)).toEqual([question]);
    expect(runs()).toEqual(["greet", "greet"]);
  });

  test("a client that cannot be asked is told so, as is a nested call of a modern one", async () => {
    const { url, runs } = await serve();
    const silent = await call(await connect(era, url, { capabilities: { sampling: {} } }), "greet");
    expect(silent).toMatchObject(denied);
    expect(textOf(silent)).toContain("no user can be asked");
    expect(runs()).toEqual([]);
    const result = jsonOf(await call(await connect(era, url), "outer"));
    if (era === "modern") expect(result.inner).toContain("no user can be asked");
    else expect(result.inner).toBe('Hello Ada {"asked":1}');
  });
});

test("a modern request that answers before it is asked, or goes on after another config, runs nothing unasked", async () => {
  vi.stubEnv("TRAILBLAZE_STATE_KEY", "k".repeat(32));
  onTestFinished(() => void vi.unstubAllEnvs());
  const { url, runs } = await serveDesk(makeDesk(), { calls: { ask: ["greet"] } });
  const accept = { inputResponses: { call: { action: "accept" }, who: named("Ada") } };
  const { inputRequests, requestState } = (await send(url, request("greet", accept))).result;
  expect(inputRequests).toMatchObject({ call: { params: { message: expect.stringContaining("Call ") } } });
  expect(runs()).toEqual([]);
  const others = request("greet", { ...accept, requestState, arguments: { other: 1 } });
  expect(await send(url, others)).toMatchObject({ error: { code: -32602 } });
  const { result } = await send(url, request("greet", { ...accept, requestState }));
  expect(result.inputRequests).toHaveProperty("who");
  // The state of a call that was approved where the config did not deny it.
  const denying = await serveDesk(makeDesk(), { calls: { deny: ["greet"] } });
  const more = { ...accept, requestState: result.requestState };
  expect(JSON.stringify(await send(denying.url, request("greet", more)))).toContain("CallDenied");
  expect(denying.runs()).toEqual([]);
});

test("a client that goes while it is asked about a call leaves it unmade, and `calls` puts a server behind the gateway", async () => {
  const { url, runs } = await serveDesk(makeDesk(), { calls: { ask: ["*"] } });
  const { asked, answer } = noting(() => new Promise<never>(() => {}));
  const client = await connect("legacy", url, { answer });
  const ended = expect(call(client, "greet")).rejects.toThrow();
  await waitUntil(() => asked.length === 1);
  await client.close();
  await ended;
  const other = await connect("legacy", url, { capabilities: {} });
  await call(other, "greet");
  expect(runs()).toEqual([]);
  const config = {
    calls: { deny: ["capabilities"] },
    mcpServers: { old: entry("old", "asking-server.mjs") },
  };
  const cwd = makeProject({}, { "trailblaze.config.json": config });
  const { client: ofCommand } = await connectToCommand(cwd, "old");
  expect(textOf(await ofCommand.callTool({ name: "capabilities" }))).toContain("`calls.deny`");
});
