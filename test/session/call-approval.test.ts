// Calls that the config or the host denies, answers, or asks the user about. The servers of these sessions end with them.
import { expect, test, vi } from "vitest";
import type { CallDecision, InputQuestion, OnCall, OnInput, PendingCall } from "../../src/session.ts";
import { runMain } from "../support/main.ts";
import { waitUntil } from "../support/wait-until.ts";
import { configOf, makeLocked, open, pidsOf, tools } from "./support/lazy.ts";
import { standTimeStill } from "./support/manual-clock.ts";
import { jsonOf, makeProject, openForTest, probe, probeDefinition, toolPack } from "./support/session.ts";

const entry = { description: "An entry.", argumentsSchema: { type: "object" } };
const jira = toolPack(
  { erase: { annotations: { destructiveHint: true } }, outer: {}, asks: {} },
  `export const runs = [];
   export const erase = (args) => (globalThis.erased?.push(args), "erased");
   export const outer = async (args, { callTool }) => (await callTool("erase", args)).content[0].text;
   export const asks = (args, { input }) => input ? "asked" : Object.defineProperty(
     { requests: { who: { message: "Who?", schema: { type: "object", properties: {} } } } },
     Symbol.for("trailblaze.needInput"), { value: true });`,
  {
    "package.json": { trailblaze: { toolsets: ["Bundle"], servers: ["api"] } },
    "trailblaze/toolsets/Bundle.json": {
      kind: "Mcp.Tools",
      metadata: { name: "Bundle" },
      entries: [{ ...entry, name: "wipe", handler: "erase" }],
    },
    "trailblaze/servers/api.json": probeDefinition({ PROBE_PREFIX: "api" }),
  },
);
const own = {
  ...probe("own", {
    PROBE_TOOLS: JSON.stringify([
      { name: "own.a_params", inputSchema: { type: "object", properties: { depth: { type: "integer" } } } },
      { name: "files/own_params", inputSchema: { type: "object" } },
      { name: "own_callback", inputSchema: { type: "object" } },
    ]),
  }),
  tools: { override: { "own.a_params": { name: "look", arguments: { depth: 3 } } } },
};
const builtIn = { name: "host_note", description: "Notes.", parameters: {}, handler: () => "noted" };

/** A session with all kinds of tools, and what has been erased. */
async function openAll(calls?: object, options: { onCall?: OnCall; onInput?: OnInput } = {}) {
  const erased: unknown[] = [];
  vi.stubGlobal("erased", erased);
  const config = { ...(calls && { calls }), trailblazeSubprocessToolsets: [own] };
  const cwd = makeProject({ "@acme/jira": jira });
  return { session: await openForTest(cwd, { config, builtIns: [builtIn], ...options }), erased };
}
const denied = (reason: string) => ({
  variant: "ExceptionThrown",
  details: { code: "CallDenied" },
  message: expect.stringContaining(reason),
});

test("a host is asked about each call, also nested ones and callbacks, with fixed arguments, and changes nothing of it", async () => {
  const seen: PendingCall[] = [];
  const { session, erased } = await openAll(undefined, {
    onCall: (call) => {
      seen.push(call);
      (call.arguments as Record<string, unknown>).changed = true;
    },
  });
  await session.callTool("outer", { id: 1 });
  await session.callTool("wipe", { id: 2 });
  await session.callTool("host_note");
  const { message } = await session.callTool("look", { query: "x" });
  await session.callTool("own_callback", { tool: "erase", with: { id: 3 } });
  expect(seen.map((call) => [call.tool, call.source.type])).toEqual([
    ["outer", "pack"],
    ["erase", "pack"],
    ["wipe", "pack"],
    ["host_note", "builtIn"],
    ["look", "config"],
    ["own_callback", "config"],
    ["erase", "pack"],
  ]);
  expect(seen[1]).toMatchObject({
    annotations: { destructiveHint: true },
    source: { pack: "@acme/jira", item: "erase" },
    signal: expect.any(AbortSignal),
  });
  expect(seen[4]?.arguments).toEqual({ query: "x", depth: 3, changed: true });
  expect(JSON.parse(message).arguments).toMatchObject({ query: "x", depth: 3 });
  expect(message).not.toContain("changed");
  expect(erased).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
  // A call that gives a fixed argument is no call.
  expect(await session.callTool("look", { depth: 4 })).toMatchObject({ variant: "ExceptionThrown" });
  expect(seen).toHaveLength(7);
});

test("a host allows, denies and answers calls; what it throws, or returns otherwise, is a deny", async () => {
  let decide: () => unknown = () => "allow";
  const { session, erased } = await openAll(undefined, { onCall: () => decide() as CallDecision });
  const content = [{ type: "text", text: "ours" }];
  const rows: [() => unknown, object][] = [
    [() => "allow", { variant: "Success", message: "erased" }],
    [async () => undefined, { variant: "Success", message: "erased" }],
    [() => "deny", denied("denied")],
    [() => ({ deny: "Not on Fridays." }), denied("Not on Fridays.")],
    [() => ({ deny: 5, result: "x" }), denied("denied")],
    [() => null, denied("denied")],
    [() => Promise.reject(new Error("no rules")), denied("denied")],
    [() => ({ result: { a: 1 } }), { variant: "Success", structuredContent: { a: 1 } }],
    [() => ({ result: { content, isError: true } }), { variant: "ExceptionThrown", content }],
    [() => ({ result: undefined }), { variant: "Success", content: [] }],
  ];
  for (const [next, result] of rows) {
    decide = next;
    expect(await session.callTool("erase", {}), String(next)).toMatchObject(result);
  }
  expect(erased).toHaveLength(2);
  expect(session.recording).toHaveLength(2);
  const told = session.problems.map(({ code, args }) => [code, JSON.stringify(args)]);
  expect(told).toEqual([
    ["HostListenerFailed", expect.stringMatching(/"onCall".*neither/)],
    ["HostListenerFailed", expect.stringMatching(/"onCall".*no rules/)],
  ]);
  decide = () => "deny";
  expect((await session.callTool("own_callback", { tool: "erase" })).details).toEqual({ code: "CallDenied" });
});

test.each<[patterns: string[], denied: string[]]>([
  // An entry of a bundle runs the code of the tool.
  [
    ["er*", "acme/jira/api_env", "own.a_params", "files/*", "host_note", "acme/*"],
    ["erase", "wipe", "look", "host_note", "api_env"],
  ],
  [
    ["@acme/*/erase", "acme/jira/api/api_*", "own/*", "own"],
    ["erase", "wipe", "look", "files_own_params", "own_callback", "api_env"],
  ],
  [["*"], ["erase", "wipe", "look", "files_own_params", "own_callback", "host_note", "api_env"]],
])("the patterns %j deny %j", async (deny, expected) => {
  const onCall = vi.fn(() => ({ result: "asked" }));
  const { session } = await openAll({ deny }, { onCall });
  const called = [
    "erase",
    "wipe",
    "own/own.a_params",
    "files/own_params",
    "own_callback",
    "host_note",
    "api_env",
  ];
  const results = await Promise.all(called.map((name) => session.callTool(name)));
  const isDenied = ({ details }: { details?: object }) => JSON.stringify(details)?.includes("CallDenied");
  const names = await Promise.all(called.map(async (name) => (await session.resolveTool(name)).name));
  expect(names.filter((_, index) => isDenied(results[index] ?? {}))).toEqual(expected);
  // What the config denies is not asked about, and stays listed.
  expect(onCall).toHaveBeenCalledTimes(called.length - expected.length);
  expect(session.toolsForLlm().map(({ name }) => name)).toEqual(expect.arrayContaining(names));
});

test("a user is asked once a call, before it runs, and what is not accepted is denied", async () => {
  const questions: InputQuestion[] = [];
  const answers = ["accept", "accept", "decline", "cancel", "accept"];
  const onInput: OnInput = (question) => {
    questions.push(question);
    return { action: (question.key === "call" ? answers.shift() : "accept") as "accept" };
  };
  const { session, erased } = await openAll({ ask: ["asks", "erase"] }, { onInput });
  expect(await session.callTool("asks", { a: 1 })).toMatchObject({ message: "asked" });
  expect(questions).toMatchObject([
    {
      key: "call",
      tool: "asks",
      message: 'Call "asks" of "acme/jira"? Arguments: {"a":1}',
      schema: { type: "object", properties: {} },
    },
    { key: "who", message: "[acme/jira] Who?" },
  ]);
  expect(await session.callTool("erase")).toMatchObject({ message: "erased" });
  expect(await session.callTool("erase")).toMatchObject(denied("the user does not allow it"));
  // A nested call asks in the same way.
  expect((await session.callTool("outer")).message).toContain("denied");
  expect((await session.callTool("outer", { text: `\u202e${"x".repeat(5000)}` })).message).toBe("erased");
  expect(erased).toHaveLength(2);
  const { message = "" } = questions.at(-1) ?? {};
  expect(message).toContain("\\u{202e}xxx");
  expect(message.length).toBeLessThanOrEqual(2000);
});

test("secrets are not shown, the time stands still, and a host's decision comes before the question", async () => {
  const questions: string[] = [];
  let decision: CallDecision | undefined = "allow";
  const wait = () => vi.advanceTimersByTimeAsync(60_000);
  const session = await openForTest(makeProject({ "@acme/jira": jira }), {
    config: { calls: { ask: ["*/*/erase"] }, sensitiveMemory: ["pin"], memory: { pin: "hunter22" } },
    onCall: async () => {
      await wait();
      return decision;
    },
    onInput: async ({ message }) => {
      questions.push(message);
      await wait();
      return { action: "accept" };
    },
  });
  standTimeStill();
  const call = () => session.callTool("outer", { pin: "hunter22" }, { timeoutMs: 500 });
  expect((await call()).message).toBe("erased");
  expect(questions).toEqual([]);
  decision = undefined;
  expect((await call()).message).toBe("erased");
  expect(questions).toEqual(['Call "erase" of "acme/jira"? Arguments: {"pin":"[redacted]"}']);
});

test("where no user can be asked, and when a call ends meanwhile, nothing runs", async () => {
  const { session, erased } = await openAll({ ask: ["er*"] });
  expect(await session.callTool("erase")).toMatchObject(denied("no user can be asked"));
  const asked: AbortSignal[] = [];
  const never = (call: { signal: AbortSignal }) => {
    asked.push(call.signal);
    return new Promise<never>(() => {});
  };
  for (const options of [{ onInput: never }, { onCall: never }]) {
    const other = await openAll({ ask: ["er*"] }, options);
    const stop = new AbortController();
    const canceled = other.session.callTool("erase", {}, { signal: stop.signal });
    await waitUntil(() => asked.length % 2 === 1);
    stop.abort(new Error("enough"));
    await expect(canceled).rejects.toThrow("enough");
    const closed = expect(other.session.callTool("erase")).rejects.toThrow("closed");
    await waitUntil(() => asked.length % 2 === 0);
    await other.session.close();
    await closed;
    expect(other.erased).toEqual([]);
  }
  expect(asked.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
  expect(erased).toEqual([]);
});

test("a denied call starts no server", async () => {
  const cwd = await makeLocked(configOf(tools({ name: "a_params", inputSchema: { type: "object" } })));
  const session = await open(cwd, { onCall: ({ arguments: { ok } }) => (ok ? "allow" : "deny") });
  expect(await session.callTool("a_params", {})).toMatchObject(denied("denied"));
  expect(pidsOf(cwd)).toEqual([]);
  expect(jsonOf(await session.callTool("a_params", { ok: true }))).toMatchObject({ name: "a_params" });
  expect(pidsOf(cwd)).toHaveLength(1);
});

test("a pattern that matches nothing is told, once all lists are known", async () => {
  const calls = { deny: ["erase", "acme/jira/erasee"], ask: ["own/*", "ownn/*", "*_env"] };
  const unmatched = ({ problems }: { problems: readonly { code: string; args: object }[] }) =>
    problems.filter(({ code }) => code === "UnmatchedPattern").map(({ args }) => args);
  expect(unmatched((await openAll(calls)).session)).toMatchObject([
    { key: "calls.deny", pattern: "acme/jira/erasee", nearest: expect.arrayContaining(["acme/jira/erase"]) },
    { key: "calls.ask", pattern: "ownn/*" },
  ]);
  const broken = { ...jira, "trailblaze/servers/api.json": { command: "none-of-this-name" } };
  const session = await openForTest(makeProject({ "@acme/jira": broken }), { config: { calls } });
  expect(unmatched(session)).toEqual([]);
});

test("without a terminal, `call` denies what would be asked", async () => {
  const cwd = makeProject(
    { "@acme/jira": jira },
    { "trailblaze.config.json": { calls: { ask: ["erase"] } } },
  );
  const { exitCode, stdout } = await runMain(["call", "erase", "--json"], { cwd });
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ details: { code: "CallDenied" } });
});
