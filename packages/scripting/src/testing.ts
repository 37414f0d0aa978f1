// For tests of packs: mocks of the handler's context and the session's other tools, and a way to run a tool.
import { convertReturned } from "../../../src/runtime/convert-result.ts";
import { describeReturned, describeThrown } from "../../../src/runtime/handler-code.mjs";
import type { RunContext } from "../../../src/runtime/handler-context.ts";
import { expectAnswer, InputNeeded } from "../../../src/runtime/input-rounds.ts";
import { readOptions } from "../../../src/runtime/tool-code.ts";
import { createClient, createOutsideClient, type TrailblazeClient } from "./client.ts";
import type { TrailblazeDevice } from "./context.ts";
import type { ArgumentsOfTool } from "./define.ts";
import type { HandlerContext, LogLevel, ToolContext } from "./handlers.ts";
import { type CallToolResult, error } from "./result.ts";
import { type AnyTool, prepareTool, runTool } from "./run-tool.ts";

/** The answer of a tool: a result, a value to convert to one (a string, data), or a function of the arguments. */
export type Stub = unknown | ((args: Record<string, unknown>) => unknown);

/** A client that answers from stubs and records its calls. */
export type MockClient = TrailblazeClient & {
  /** Every call so far, in order. */
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
};

/** The result of a tool; for a question, what a session without a user reports, and for an error its message. */
async function resultOf(run: () => ReturnType<typeof runTool>): Promise<CallToolResult> {
  try {
    return (await run()) as CallToolResult;
  } catch (thrown) {
    if (!(thrown instanceof InputNeeded)) return error(describeThrown(thrown).message);
    const { requests: inputRequests, ...state } = thrown.asked;
    const trailblaze: Record<string, unknown> = { variant: "InputRequired", inputRequests, ...state };
    return { ...error("The tool needs input."), _meta: { trailblaze } };
  }
}

/** Creates a client with stubs by advertised name. A call of another tool rejects, and the error lists the stubs. */
export function createMockClient(stubs: Readonly<Record<string, Stub>> = {}): MockClient {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const client = createClient(async (name, args) => {
    calls.push({ name, args });
    if (!Object.hasOwn(stubs, name)) {
      const known = Object.keys(stubs).join(", ") || "none";
      throw new Error(`No stub for the tool ${JSON.stringify(name)}. Stubs: ${known}.`);
    }
    const stub = stubs[name];
    const run = async () => (typeof stub === "function" ? stub(args) : stub);
    return resultOf(async () => convertReturned(await expectAnswer(describeReturned(await run()))));
  });
  return Object.freeze({ ...client, calls });
}

/** Changes to the default: a session with a web browser, empty memory, no options and no other tools. */
export interface MockContextOverrides
  extends Partial<
    Pick<ToolContext, "client" | "signal" | "sessionId" | "invocationId" | "input" | "state" | "options">
  > {
  /**
   * `false`: outside a session, under another MCP client. Then there are no device, memory and ids, and calls of other
   * tools reject unless a `client` is passed.
   */
  inSession?: boolean;
  /** Parts of the device; `null` for a session without one. */
  device?: Partial<TrailblazeDevice> | null;
  memory?: Readonly<Record<string, string>>;
}

/** A handler's context that records its use. */
export type MockContext = ToolContext & {
  /** What the handler logged, in order. */
  readonly logs: readonly { readonly level: LogLevel; readonly data: unknown }[];
  /** The progress that the handler reported, in order. */
  readonly steps: readonly {
    readonly progress: number;
    readonly total?: number;
    readonly message?: string;
  }[];
  /** The current memory; empty outside a session. */
  readonly remembered: () => Record<string, string>;
};

const browser: TrailblazeDevice = {
  platform: "WEB",
  widthPixels: 1280,
  heightPixels: 800,
  driverType: "playwright-native",
};

/** Creates a context like that of a handler in a session. */
export function createMockContext(overrides: MockContextOverrides = {}): MockContext {
  const { inSession = true, device = {}, memory = {}, options = {}, input, state } = overrides;
  const { client = inSession ? createMockClient() : createOutsideClient() } = overrides;
  const { signal = new AbortController().signal } = overrides;
  const entries = new Map(Object.entries(inSession ? memory : {}));
  const logs: { level: LogLevel; data: unknown }[] = [];
  const steps: MockContext["steps"][number][] = [];
  const session: Partial<HandlerContext> = {
    sessionId: overrides.sessionId ?? "mock-session",
    invocationId: overrides.invocationId ?? "mock-invocation",
    device: device === null ? null : { ...browser, ...device },
    memory: entries,
  };
  return Object.freeze({
    signal,
    options,
    client,
    callTool: client.callTool,
    log: (level: LogLevel, data: unknown) => void logs.push({ level, data }),
    progress: async (progress: number, total?: number, message?: string) => {
      steps.push({
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      });
    },
    ...(input === undefined ? {} : { input }),
    ...(state === undefined ? {} : { state }),
    ...(inSession ? session : {}),
    logs,
    steps,
    remembered: () => Object.fromEntries(entries),
  });
}

/** What replaces the host in a test of a handler. */
export interface InvokeOptions {
  /** Default: `createMockContext()` with the defaults of the tool's options. */
  context?: HandlerContext;
  /** Answers the handler's calls of other tools. Default: the context's. */
  client?: TrailblazeClient;
}

/**
 * Runs a tool as a host does: checks its arguments, fills in defaults, calls its handler, and converts and checks what it
 * returns or throws. If the handler fails, its writes to a mock's memory are undone. Never rejects because of the handler;
 * throws a `TypeError` for a definition whose handler is a reference.
 */
export async function invoke<Tool extends AnyTool>(
  tool: Tool,
  args: ArgumentsOfTool<Tool>,
  { context: given, client }: InvokeOptions = {},
): Promise<CallToolResult> {
  const prepared = prepareTool(tool);
  const base = given ?? createMockContext({ options: readOptions(tool.options) });
  const { callTool } = client ?? base;
  const { device, memory, remembered } = base as Partial<MockContext>;
  const context: RunContext = {
    ...(base as Partial<RunContext> & HandlerContext),
    callTool: (name, json) => callTool(name, JSON.parse(json)),
    memory: memory && {
      get: (key) => memory.get(key),
      write: (key, value) => void (value === undefined ? memory.delete(key) : memory.set(key, value)),
      snapshot: () => remembered?.() ?? {},
    },
  };
  const before = remembered?.() ?? {};
  const { _trailblazeContext: _, ...own } = structuredClone((args ?? {}) as Record<string, unknown>);
  const envelope = device === undefined ? undefined : { memory: before, device };
  const result = await resultOf(() => runTool(prepared, own, context, envelope));
  if (result.isError === true) {
    // What a handler writes takes effect only if the call succeeds.
    for (const name of Object.keys(remembered?.() ?? {})) memory?.delete(name);
    for (const [name, value] of Object.entries(before)) memory?.set(name, value);
  }
  return result;
}
