import type { HandlerContext } from "./handler-context.ts";
import type { Outcome } from "./tool-code.ts";

/** Any function of a pack. */
export type PackFunction = (...args: readonly unknown[]) => unknown;

export class HandlerNotFoundError extends Error {
  readonly code: "HandlerNotFound";
}

export function loadFunction(place: { root: string; source: object }): Promise<PackFunction>;
export function freeze<Value>(value: Value): Value;
export function completeContext(
  context: object,
  host: Pick<HandlerContext, "log" | "progress" | "memory" | "changed"> & {
    callTool(name: string, json: string): Promise<unknown>;
  },
  isOver: () => boolean,
): Readonly<HandlerContext>;
export function runCode(
  find: () => PackFunction | Promise<PackFunction>,
  args: unknown,
  context?: Readonly<HandlerContext>,
  stop?: { throwIfAborted(): void },
): Promise<Outcome>;
