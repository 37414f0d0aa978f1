// The servers of these sessions end with them.
import { fileURLToPath } from "node:url";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openSessionByRules } from "../../src/session/open-session.ts";
import { type InputQuestion, type OnInput, openSession, type Session } from "../../src/session.ts";
import { serveLegacy } from "../support/remote-servers.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";
import { writeTree } from "../support/tree.ts";
import { waitUntil } from "../support/wait-until.ts";
import { createManualClock, standTimeStill } from "./support/manual-clock.ts";
import { jsonOf, makeProject, openForTest, toolPack } from "./support/session.ts";

const entry = (file: string) => ({
  name: "asking",
  command: process.execPath,
  args: [fileURLToPath(new URL(`support/${file}`, import.meta.url))],
});
const legacy = { trailblazeSubprocessToolsets: [entry("asking-server.mjs")] };
const modern = { trailblazeSubprocessToolsets: [entry("modern-asking-server.mjs")] };

const nameSchema = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 } },
  required: ["name"],
};

const pack = toolPack(
  { greet: {}, forever: {}, outer: {}, sampling: {}, write: {} },
  `
  // What \`needInput\` of @trailblaze/scripting returns.
  const NEED = (requests, { state } = {}) =>
    Object.defineProperty({ requests, state }, Symbol.for("trailblaze.needInput"), { value: true });
  const schema = ${JSON.stringify(nameSchema)};
  export const greet = (args, { input, state }) => {
    if (input === undefined) {
      args.changed = true;
      return NEED({ who: { message: "What is your name?", schema } }, { state: { step: 1 } });
    }
    return { input, state, args };
  };
  export const forever = () => NEED({ who: { message: "Again?", schema } });
  export const outer = async (_, { callTool }) => (await callTool("greet")).content[0].text;
  export const sampling = () => NEED({ s: { method: "roots/list" } });
  export const write = (_, { input, memory }) => {
    memory.set("runs", String(Number(memory.get("runs") ?? 0) + 1));
    return input === undefined ? NEED({ go: { message: "Go?", url: "https://example.com/" } }) : "written";
  };
  export const ask = (_, { input }) =>
    input === undefined ? NEED({ v: { message: "Which?", schema } }) : \`Notes of \${input.v.content.name}\`;
  `,
  {
    "package.json": { trailblaze: { prompts: ["notes"], toolsets: ["desk"] } },
    "trailblaze/toolsets/desk.json": {
      kind: "Mcp.Tools",
      metadata: { name: "desk" },
      entries: [
        {
          name: "welcome",
          description: "Welcomes.",
          handler: "./handlers.js#greet",
          result: { content: [{ type: "text", text: "Hi ${{ result.input.who.content.name }}" }] },
          catches: [{ error: { code: -32001 } }],
        },
      ],
    },
    "trailblaze/prompts/notes.json": { name: "notes", description: "Notes.", handler: "./handlers.js#ask" },
  },
);
const project = () => makeProject({ asker: pack });

/** An `onInput` that notes its questions and answers them all alike. */
function answering(answer: unknown) {
  const questions: InputQuestion[] = [];
  const onInput = (question: InputQuestion) => {
    questions.push(question);
    return answer;
  };
  return { questions, onInput: onInput as OnInput };
}
const accept = (name: unknown = "Ada") => answering({ action: "accept", content: { name } });

/** An `onInput` that takes a minute of that time, which is longer than any call of these tests may take. */
function slow() {
  const accepting = accept();
  const onInput: OnInput = async (question) => {
    await vi.advanceTimersByTimeAsync(60_000);
    return accepting.onInput(question);
  };
  return { ...accepting, onInput };
}

describe("code of a pack that asks", () => {
  test("a tool or a prompt that asks runs again from its beginning with the answers and its state", async () => {
    const { questions, onInput } = accept();
    const session = await openForTest(project(), { onInput });
    const result = await session.callTool("greet", { a: 1 });
    expect(result).toMatchObject({
      variant: "Success",
      structuredContent: {
        input: { who: { action: "accept", content: { name: "Ada" } } },
        state: { step: 1 },
        args: { a: 1 },
      },
    });
    expect(result.structuredContent).not.toHaveProperty("args.changed");
    expect(questions).toEqual([
      {
        key: "who",
        tool: "greet",
        message: "[asker] What is your name?",
        schema: nameSchema,
        signal: expect.any(AbortSignal),
      },
    ]);
    expect(session.recording).toEqual([{ greet: { a: 1 } }]);
    const [message] = (await session.getPrompt("notes")).messages;
    expect(message).toMatchObject({ role: "user", content: { type: "text", text: "Notes of Ada" } });
    expect(questions[1]).toMatchObject({ tool: "notes", key: "v", message: "[asker] Which?" });
    // A question is neither for `result` nor for `catches` of an entry.
    expect(await session.callTool("welcome")).toMatchObject({ variant: "Success", message: "Hi Ada" });
  });

  test("a user may decline; an answer against the schema is a decline, and nonsense or an exception a cancel", async () => {
    const fail = () => {
      throw new Error("no terminal");
    };
    const answers: [() => unknown, string][] = [
      [() => ({ action: "decline" }), "decline"],
      [() => ({ action: "accept", content: { name: 5 } }), "decline"],
      [() => "yes", "cancel"],
      [() => ({ action: "accept", content: null }), "cancel"],
      [fail, "cancel"],
    ];
    let answer: () => unknown = fail;
    const session = await openForTest(project(), { onInput: (() => answer()) as OnInput });
    for (const [next, action] of answers) {
      answer = next;
      const input = { who: { action } };
      expect(await session.callTool("greet")).toMatchObject({ structuredContent: { input } });
    }
    const args = { option: "onInput", tool: "greet", reason: "no terminal" };
    expect(session.problems.at(-1)).toMatchObject({ code: "HostListenerFailed", args });
  });

  test("a tool that never stops asking fails after 8 rounds, and so does a request that is not for users", async () => {
    const { questions, onInput } = accept();
    const session = await openForTest(project(), { onInput });
    const failed = (words: string) => ({
      variant: "ExceptionThrown",
      message: expect.stringContaining(words),
    });
    expect(await session.callTool("forever")).toMatchObject(failed("8 times"));
    expect(questions).toHaveLength(8);
    expect(await session.callTool("sampling")).toMatchObject(failed("roots/list"));
    // Only the run that succeeds changes the memory.
    expect(await session.callTool("write")).toMatchObject({ message: "written" });
    expect(session.memory.get("runs")).toBe("1");
  });

  test("a nested call asks through the outer call, and the time of both stands still while a question is open", async () => {
    const { questions, onInput } = slow();
    const session = await openForTest(project(), { onInput });
    standTimeStill();
    const result = await session.callTool("outer", {}, { timeoutMs: 500 });
    expect(jsonOf(result)).toMatchObject({ input: { who: { content: { name: "Ada" } } } });
    expect(questions).toMatchObject([{ tool: "greet" }]);
  });
});

describe("a question without an answer", () => {
  async function openSilent(timeouts: { inputMs?: number } = {}) {
    const clock = createManualClock();
    const questions: InputQuestion[] = [];
    const onInput: OnInput = (question) => {
      questions.push(question);
      return new Promise(() => {});
    };
    const session = await openSessionByRules(
      { cwd: project(), onInput, config: { logDir: "logs", timeouts } },
      { mode: "host" },
    );
    onTestFinished(() => session.close());
    return { session, clock, questions };
  }

  test("a question is canceled after the time that the config sets, and its signal aborts", async () => {
    const { session, clock, questions } = await openSilent({ inputMs: 5000 });
    const call = session.callTool("greet");
    await waitUntil(() => questions.length === 1);
    clock.advance(4999);
    expect(questions[0]?.signal.aborted).toBe(false);
    clock.advance(1);
    expect(questions[0]?.signal.aborted).toBe(true);
    expect(await call).toMatchObject({ structuredContent: { input: { who: { action: "cancel" } } } });
  });

  test.each(["call", "session"])("a question ends with its %s", async (ends) => {
    const { session, questions } = await openSilent();
    const stop = new AbortController();
    const call = session.callTool("outer", {}, { signal: stop.signal });
    const rejected = expect(call).rejects.toThrow(ends === "call" ? "enough" : "closed");
    await waitUntil(() => questions.length === 1);
    if (ends === "call") stop.abort(new Error("enough"));
    else await session.close();
    await rejected;
    expect(questions[0]?.signal.aborted).toBe(true);
  });
});

test("without onInput, a call that asks resolves with the requests, and a nested one fails", async () => {
  const session = await openForTest(project());
  expect(await session.callTool("greet", { a: 1 })).toMatchObject({
    variant: "InputRequired",
    message: expect.stringContaining('"What is your name?"'),
    details: {
      inputRequests: { who: { message: "What is your name?", schema: nameSchema } },
      state: { step: 1 },
    },
  });
  expect(session.recording).toEqual([]);
  expect((await session.callTool("outer")).message).toContain("What is your name?");
  await expect(session.getPrompt("notes")).rejects.toMatchObject({
    code: "InputRequired",
    message: expect.stringContaining('"v": "Which?"'),
  });
});

/** A session with a server, for all tests of a group. `answer`: what its user answers until the test has ended. */
function shareSession(config: object) {
  let current: OnInput | undefined;
  let opened: Session | undefined;
  const folder = makeTemporaryFolder();
  beforeAll(async () => {
    writeTree(folder.path, { "package.json": { name: "app" } });
    opened = await openSession({
      cwd: folder.path,
      config: { logDir: "logs", ...config },
      onInput: (question) => current?.(question) ?? { action: "cancel" },
    });
  });
  afterAll(async () => {
    await opened?.close();
    folder.remove();
  });
  return (onInput: OnInput): Session => {
    if (opened === undefined) throw new Error("The session is not open.");
    current = onInput;
    return opened;
  };
}

describe("a legacy server that asks", () => {
  const sessionOf = shareSession(legacy);

  test("a server is told of elicitation only with onInput", async () => {
    const asking = sessionOf(accept().onInput);
    expect(jsonOf(await asking.callTool("capabilities"))).toEqual({ elicitation: { form: {}, url: {} } });
    const silent = await openForTest(makeProject({}), { config: legacy });
    expect(jsonOf(await silent.callTool("capabilities"))).toEqual({});
    const request = { method: "elicitation/create", params: { message: "?", requestedSchema: nameSchema } };
    expect(jsonOf(await silent.callTool("raw", request))).toMatchObject({ code: -32601 });
  });

  test("a server asks during its call for values and for a visit, while the time of the call stands still", async () => {
    const { questions, onInput } = slow();
    const session = sessionOf(onInput);
    standTimeStill();
    const result = await session.callTool("ask", { times: 3 }, { timeoutMs: 400 });
    expect(jsonOf(result)).toEqual({ action: "accept", content: { name: "Ada" } });
    expect(questions).toHaveLength(3);
    expect(questions[0]).toMatchObject({
      tool: "ask",
      message: "[asking] What is your name?",
      schema: nameSchema,
    });
    expect(jsonOf(await session.callTool("visit"))).toMatchObject({ action: "accept" });
    const page = { message: "[asking] Sign in.", url: "https://login.example/authorize?x=1" };
    expect(questions[3]).toMatchObject(page);
    expect(questions[3]).not.toHaveProperty("schema");
  });

  test("requests that are unsupported or invalid, or outside of a call, are answered with an error", async () => {
    const { questions, onInput } = accept();
    const session = sessionOf(onInput);
    const nested = { type: "object", properties: { a: { type: "object", properties: {} } } };
    const ask = "elicitation/create";
    const cases: [string, object, number, string][] = [
      ["sampling/createMessage", { messages: [], maxTokens: 1 }, -32601, "Method not found"],
      [ask, { message: "?" }, -32602, "Invalid request: `schema` is missing"],
      [ask, { message: "?", mode: "url", url: "javascript:alert(1)" }, -32602, "url"],
      [ask, { message: "x".repeat(70_000), requestedSchema: nameSchema }, -32602, "bytes"],
      [ask, { message: "?", requestedSchema: nested }, -32602, "/properties/a/type"],
    ];
    for (const [method, params, code, text] of cases) {
      const message = expect.stringContaining(text);
      expect(jsonOf(await session.callTool("raw", { method, params }))).toMatchObject({ code, message });
    }
    expect(jsonOf(await session.callTool("early"))).toMatchObject({ code: -32601 });
    expect(questions).toEqual([]);
  });
});

describe("a modern server that asks", () => {
  const sessionOf = shareSession(modern);

  test("a call is made again with the answers and the server's state", async () => {
    const { questions, onInput } = accept();
    const session = sessionOf(onInput);
    expect(jsonOf(await session.callTool("ask"))).toEqual({
      inputResponses: {
        who: { action: "accept", content: { name: "Ada" } },
        page: { action: "accept" },
      },
      state: "round 1",
    });
    expect(questions).toMatchObject([
      { key: "who", tool: "ask", schema: nameSchema },
      { key: "page", tool: "ask", url: "https://login.example/" },
    ]);
    // One that only wants time.
    expect(jsonOf(await session.callTool("again"))).toBe("done");
  });

  test("without onInput, a call fails and names what the server wanted", async () => {
    const session = await openForTest(makeProject({}), { config: modern });
    expect(await session.callTool("ask")).toMatchObject({
      variant: "ExceptionThrown",
      message: expect.stringContaining("elicitation"),
    });
    expect(jsonOf(await session.callTool("add", { a: 2 }))).toBe(2);
  });
});

test("questions of a legacy server reach the user, and those that name their call belong to it", async () => {
  const remote = await serveLegacy(0, (given) => {
    const mcp = given as unknown as McpServer;
    const text = ({ content }: { content?: unknown }) => ({
      content: [{ type: "text" as const, text: JSON.stringify(content) }],
    });
    const params = { message: "What is your name?", requestedSchema: nameSchema as never };
    for (const name of ["first", "second"])
      mcp.registerTool(name, {}, async ({ sendRequest }) =>
        text(await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema)),
      );
    // Not on the stream of its call.
    mcp.registerTool("apart", {}, async () => text(await mcp.server.elicitInput(params)));
  });
  const { questions, onInput } = accept();
  const config = { mcpServers: { docs: { url: remote.url } } };
  const session = await openForTest(makeProject({}), { config, onInput });
  const names = ["second", "first"];
  const results = await Promise.all(names.map((name) => session.callTool(name)));
  expect(results.map(jsonOf)).toEqual([{ name: "Ada" }, { name: "Ada" }]);
  expect(questions.map(({ tool }) => tool).toSorted()).toEqual(["first", "second"]);
  await waitUntil(() => remote.received.some(({ http }) => http === "GET"));
  expect(jsonOf(await session.callTool("apart"))).toEqual({ name: "Ada" });
});
