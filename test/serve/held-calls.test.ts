// Servers of earlier revisions that ask in the middle of a call, behind a project's session that is served over HTTP. The
// servers end with their test.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { AskedResult } from "../../src/mcp/questions.ts";
import type { CallChannel } from "../../src/mcp/served-server.ts";
import type { Cancellation } from "../../src/runtime/abort-listeners.ts";
import type { InputRequests } from "../../src/runtime/input-requests.ts";
import { HeldCalls } from "../../src/serve/held-calls.ts";
import { startServer } from "../../src/serve.ts";
import type { AskInput } from "../../src/session/host-input.ts";
import { revision } from "../mcp/modern/modern-served.ts";
import { scriptingPackage } from "../scripting/support/scripting-package.ts";
import { createManualClock } from "../session/support/manual-clock.ts";
import { makeProject, toolPack } from "../session/support/session.ts";
import { inRepository } from "../support/repository.ts";
import { waitUntil } from "../support/wait-until.ts";

const named = (name: string) => ({ action: "accept", content: { name } });

/** A pack whose tools call a server that asks. */
const pack = toolPack(
  { greet: {}, both: {}, row: {} },
  `
  import { needInput } from "@trailblaze/scripting/result";
  const schema = { type: "object", properties: { name: { type: "string" } } };
  export const greet = (_, { input }) => input === undefined
    ? needInput({ who: { message: "Who?", schema } }) : input.who.content.name;
  const ask = async (callTool, args) => JSON.parse((await callTool("ask", args)).content[0].text).content?.name;
  export const both = async (_, { callTool }) => Promise.all([ask(callTool), ask(callTool)]);
  export const row = async (_, { callTool }) =>
    [await ask(callTool), (await callTool("greet")).content[0].text, await ask(callTool)];
  `,
);

async function serve() {
  const old = [inRepository("test/session/support/asking-server.mjs")];
  const servers = [{ name: "old", command: process.execPath, args: old }];
  const running = await startServer(null, {
    cwd: makeProject({ "@acme/desk": pack }, scriptingPackage),
    config: { logDir: "logs", trailblazeSubprocessToolsets: servers },
    transport: { port: 0 },
  });
  onTestFinished(() => running.close());
  return new URL(running.url ?? "");
}

/** Connects a client whose user gives another name at each question. */
async function connect(era: "legacy" | "modern", url: URL) {
  let count = 0;
  const info = { name: "tester", version: "1.0.0" };
  const capabilities = { elicitation: { form: {}, url: {} } };
  const answer = ({ mode }: { mode?: string | undefined }) =>
    mode === "url" ? { action: "accept" } : named(`user ${++count}`);
  if (era === "modern") {
    const client = new Client(info, { capabilities, versionNegotiation: { mode: { pin: revision } } });
    client.setRequestHandler("elicitation/create", async ({ params }) => answer(params) as never);
    await client.connect(new StreamableHTTPClientTransport(url));
    onTestFinished(() => client.close());
    return client;
  }
  const client = new LegacyClient(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params) as never);
  await client.connect(new LegacyHttp(url) as Parameters<LegacyClient["connect"]>[0]);
  onTestFinished(() => client.close());
  return client as unknown as Client;
}

describe.each(["legacy", "modern"] as const)("a %s client", (era) => {
  test("what tools, prompts and resources of a server ask in the middle of a request reaches it", async () => {
    const client = await connect(era, await serve());
    const textOf = async (name: string, args = {}) => {
      const { content } = await client.callTool({ name, arguments: args });
      return (content as { text: string }[])[0]?.text ?? "";
    };
    expect(JSON.parse(await textOf("ask", { times: 3 }))).toEqual(named("user 3"));
    const { messages } = await client.getPrompt({ name: "topic" });
    expect(messages[0]?.content).toMatchObject({ text: "About user 4" });
    const { contents } = await client.readResource({ uri: "ask://name" });
    expect(contents[0]).toMatchObject({ text: "Name user 5" });
    expect(JSON.parse(await textOf("login"))).toEqual({ visits: 2 });
    // Two calls at once, and a question of a pack's tool between two of the server.
    expect(JSON.parse(await textOf("both")).toSorted()).toEqual(["user 6", "user 7"]);
    expect(JSON.parse(await textOf("row"))).toEqual(["user 8", "user 9", "user 10"]);
  });
});

describe("a held call", () => {
  const requests: InputRequests = { input: { message: "Name?", schema: { type: "object", properties: {} } } };
  const input = { input: { action: "accept" as const, content: {} } };
  const canceled = { input: { action: "cancel" } };

  function create() {
    const clock = createManualClock();
    const calls = new HeldCalls(() => 600_000, clock);
    /** Runs a call that asks `times` times, until `withdrawn` aborts. */
    async function begin(times = 1, withdrawn = new AbortController().signal) {
      const request = new AbortController();
      let signal: Cancellation | undefined;
      const answers: unknown[] = [];
      const run = async (channel: CallChannel, ask: AskInput) => {
        ({ signal } = channel);
        const isWaiting = true;
        for (let asked = 0; asked < times; asked++)
          answers.push(
            await ask({ tool: "ask", requests, isWaiting, signal: withdrawn }).catch(
              ({ message }) => message,
            ),
          );
        signal.throwIfAborted();
        return { answers };
      };
      const answer = await calls.answer(channelOf(request), undefined, run);
      return { answer, held: heldIn(answer), request, answers, isEnded: () => signal?.aborted };
    }
    const goOn = (held: string, given: object = input, request = new AbortController()) =>
      calls.answer(channelOf(request), { input: given as typeof input, held }, () => Promise.reject());
    return { clock, calls, begin, goOn };
  }
  const channelOf = ({ signal }: AbortController): CallChannel => ({
    ...{ signal, depth: 0, log: () => {}, progress: () => {} },
    questions: { canWait: false, answer: () => Promise.reject(new Error("not asked")) },
  });
  const heldIn = (answer: object) =>
    (answer as { inputRequired?: { held?: string } }).inputRequired?.held ?? "none";
  const isOver = { code: -32602, message: expect.stringContaining("does not wait here") };

  test("a held call goes on once with each answer", async () => {
    const { begin, goOn } = create();
    const { answer, held } = await begin(2);
    expect(answer).toEqual({ inputRequired: { requests, held } });
    const next = await goOn(held);
    await expect(goOn(held)).rejects.toMatchObject(isOver);
    expect(await goOn(heldIn(next))).toEqual({ answers: [input, input] });
  });

  test("a held call asks again for what is missing in an answer", async () => {
    const { begin, goOn } = create();
    const { held } = await begin();
    const again = await goOn(held, {});
    expect(again).toMatchObject({ inputRequired: { requests } });
    expect(await goOn(heldIn(again))).toEqual({ answers: [input] });
  });

  test("a question without an answer is canceled in the end, and so are those after it", async () => {
    const { clock, begin, goOn } = create();
    const { held, request, isEnded, answers } = await begin(3);
    request.abort(new AskedResult({}));
    clock.advance(599_999);
    expect(isEnded()).toBe(false);
    const next = await goOn(held);
    expect(clock.delays).toEqual([600_000]);
    clock.advance(600_000);
    await expect(goOn(heldIn(next))).rejects.toMatchObject(isOver);
    expect(clock.delays).toEqual([]);
    await waitUntil(() => answers.length === 3);
    expect(answers).toEqual([input, canceled, canceled]);
  });

  test("a held call ends with a request that ends before it has asked, and with its server", async () => {
    const { calls, begin, goOn, clock } = create();
    const refused = await begin();
    refused.request.abort(new Error("-32021"));
    expect(refused.isEnded()).toBe(true);
    await expect(goOn(refused.held)).rejects.toMatchObject(isOver);

    const left = await begin(2);
    const request = new AbortController();
    const going = goOn(left.held, input, request);
    request.abort(new Error("gone"));
    expect(left.isEnded()).toBe(true);
    await expect(goOn(left.held)).rejects.toMatchObject(isOver);
    await Promise.allSettled([going]);

    const closed = await begin();
    calls.close();
    expect(closed.isEnded()).toBe(true);
    expect(clock.delays).toEqual([]);
  });

  test("a held call whose server asks no more has its outcome for the client", async () => {
    const { begin, goOn } = create();
    const withdrawn = new AbortController();
    const { held, request } = await begin(1, withdrawn.signal);
    request.abort(new AskedResult({}));
    withdrawn.abort(new Error("too late"));
    expect(await goOn(held)).toEqual({ answers: ["too late"] });
  });

  test("a hundred calls are held, and the server of one more gets an error", async () => {
    const { begin } = create();
    for (let count = 0; count < 100; count++) expect((await begin()).held).not.toBe("none");
    const { answer } = await begin();
    expect(answer).toEqual({ answers: [expect.stringContaining("Too many calls")] });
  });
});
