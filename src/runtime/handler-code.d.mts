import type { HandlerContext } from "./handler-context.ts";
import type { CodePlace, Outcome } from "./tool-code.ts";

/** Any function of a pack. */
export type PackFunction = (...args: readonly unknown[]) => unknown;

export class HandlerNotFoundError extends Error {
  readonly code: "HandlerNotFound";
}

export function findFunction(place: CodePlace): PackFunction | Promise<PackFunction>;
export function freeze<Value>(value: Value): Value;
/** Where what a handler does goes. */
export interface ContextHost extends Pick<HandlerContext, "log" | "progress"> {
  callTool(name: string, json: string): Promise<unknown>;
  readonly memory: HandlerContext["memory"];
  readonly changed: HandlerContext["changed"];
}
export function createContext(
  options: HandlerContext["options"],
  host: ContextHost,
  isOver: () => boolean,
): { -readonly [Key in keyof Omit<HandlerContext, "signal">]: HandlerContext[Key] };
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
