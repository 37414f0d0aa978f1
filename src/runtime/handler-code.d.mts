import type { HandlerContext, RunContext } from "./handler-context.ts";
import type { CodePlace, Outcome } from "./tool-code.ts";

/** Any function of a pack. */
export type PackFunction = (...args: readonly unknown[]) => unknown;

export class HandlerNotFoundError extends Error {
  readonly code: "HandlerNotFound";
}

export function findFunction(place: CodePlace): PackFunction | Promise<PackFunction>;
export function freeze<Value>(value: Value): Value;
export function createContext(
  run: RunContext,
  isOver: () => boolean,
  freeze: <Data>(data: Data) => Data,
): Readonly<HandlerContext>;
export function runCode(
  find: () => PackFunction | Promise<PackFunction>,
  args: unknown,
  context?: Readonly<HandlerContext>,
  stop?: { throwIfAborted(): void },
): Promise<Outcome>;
export function runInitialize(
  find: () => PackFunction | Promise<PackFunction>,
  context: Readonly<Pick<HandlerContext, "options">>,
  tried: WeakMap<PackFunction, Promise<void>>,
): Promise<Outcome>;
