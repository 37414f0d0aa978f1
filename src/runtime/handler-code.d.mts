import type { HandlerContext, RunContext } from "./handler-context.ts";
import type { CodePlace, Outcome } from "./tool-code.ts";

/** Any function of a pack. */
export type PackFunction = (...args: readonly unknown[]) => unknown;

/** What a handler returned, read once; none of its code runs afterwards. */
export type Returned =
  | { kind: "nothing" }
  | { kind: "text"; text: string }
  /** Any other value that JSON can represent, as JSON text. */
  | { kind: "json"; json: string }
  /** A value of `needInput`: what to ask, as JSON text. */
  | { kind: "input"; json: string }
  /** `bytes`: what the value was, in base64. Only resources can use them. */
  | { kind: "refused"; message: string; bytes?: string };

/** What a handler threw. `data` is JSON text. */
export interface Thrown {
  message: string;
  code?: string | number;
  data?: string;
}

export function findFunction(root: string, place: CodePlace): PackFunction | Promise<PackFunction>;
export function createContext(run: RunContext, isOver: () => boolean): Readonly<HandlerContext>;
export function runCode(
  find: () => PackFunction | Promise<PackFunction>,
  args: unknown,
  context?: Readonly<HandlerContext>,
  stop?: { throwIfAborted(): void },
): Promise<Outcome>;
export function runInitialize(
  find: () => PackFunction | Promise<PackFunction>,
  options: HandlerContext["options"],
  tried: WeakMap<PackFunction, Promise<void>>,
): Promise<Outcome>;
export function describeReturned(value: unknown): Returned;
export function describeThrown(thrown: unknown): Thrown;
