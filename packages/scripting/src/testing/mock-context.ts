import { createOutsideClient, type TrailblazeClient } from "../client.ts";
import type { TrailblazeDevice } from "../context.ts";
import type { HandlerContext, LogLevel, SessionMemory, ToolContext } from "../handlers.ts";
import type { InputAnswers } from "../input.ts";
import { createMockClient } from "./mock-client.ts";

/** Changes to the default: a session with a web browser, empty memory, no options and no other tools. */
export interface MockContextOverrides {
  /**
   * `false`: outside a session, under another MCP client. Then there are no device, memory and ids, and calls of other
   * tools reject unless a `client` is passed.
   */
  inSession?: boolean;
  /** Parts of the device; `null` for a session without one. */
  device?: Partial<TrailblazeDevice> | null;
  memory?: Readonly<Record<string, string>>;
  options?: Readonly<Record<string, unknown>>;
  /** The answers to `needInput`, for a handler that runs again. Default: the first run. */
  input?: InputAnswers;
  /** The state that the handler passed to `needInput`. */
  state?: unknown;
  client?: TrailblazeClient;
  signal?: AbortSignal;
  sessionId?: string;
  invocationId?: string;
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

function createMemory(entries: Map<string, string>): SessionMemory {
  return {
    get: (name) => entries.get(name),
    set: (name, value) => {
      if (typeof value !== "string") throw new TypeError("Keys and values of memory must be strings.");
      entries.set(name, value);
    },
    delete: (name) => entries.delete(name),
  };
}

/** Creates a context like that of a handler in a session. */
export function createMockContext(overrides: MockContextOverrides = {}): MockContext {
  const { inSession = true, device = {}, memory = {}, options = {} } = overrides;
  const { client = inSession ? createMockClient() : createOutsideClient() } = overrides;
  const { signal = new AbortController().signal } = overrides;
  const entries = new Map(Object.entries(inSession ? memory : {}));
  const logs: { level: LogLevel; data: unknown }[] = [];
  const steps: MockContext["steps"][number][] = [];
  const session: Partial<HandlerContext> = {
    sessionId: overrides.sessionId ?? "mock-session",
    invocationId: overrides.invocationId ?? "mock-invocation",
    device: device === null ? null : { ...browser, ...device },
    memory: createMemory(entries),
  };
  return Object.freeze({
    signal,
    options,
    client,
    callTool: (name: string, args: Record<string, unknown>) => client.callTool(name, args),
    log: (level: LogLevel, data: unknown) => void logs.push({ level, data }),
    progress: async (progress: number, total?: number, message?: string) => {
      const step = { progress, ...(total === undefined ? {} : { total }) };
      steps.push({ ...step, ...(message === undefined ? {} : { message }) });
    },
    ...(overrides.input === undefined ? {} : { input: overrides.input }),
    ...(overrides.state === undefined ? {} : { state: overrides.state }),
    ...(inSession ? session : {}),
    logs,
    steps,
    remembered: () => Object.fromEntries(entries),
  });
}
