import { isRecord } from "../data/parse-json.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { describeExit, type UnexpectedExit } from "../problems/index.ts";
import type { Returned, Thrown } from "./handler-code.mjs";
import type { HandlerContext, RunContext } from "./handler-context.ts";

/** Where a tool comes from. */
export interface ToolSource {
  type: "pack" | "config" | "builtIn";
  /** npm name. */
  pack?: string;
  version?: string;
  /** The item's name within its pack. */
  item?: string;
  /** The server that advertises it: an item's name, or the name in the user's config. */
  server?: string;
  /** Where it is declared: a path inside the pack, with `/`; an absolute path for a tool of the user's config. */
  file?: string;
}

export interface CodeOwner {
  /** `undefined` for the host's own tools. */
  pack: DiscoveredPack | undefined;
  /** Absolute path that contains its modules, symbolic links resolved; those outside it are refused. */
  root: string;
  /** A hash of the code, if it may change while the process runs. Different code has a runner of its own. */
  content?: string;
}

/**
 * Where the code of a tool or a server is. `file`: a module below its owner's root, which has it at a path: an export, or in a
 * definition file that is code, a function in its default export (`["default", "createIssue", "handler"]`). `run`: a function that
 * was passed to the host; it runs only in this process.
 */
export type CodePlace =
  | { file: string; path: readonly string[]; run?: undefined }
  | { run: (args: Record<string, unknown>, context: HandlerContext) => unknown };

/** Where the code of a definition's key, or of a path of keys, is; `undefined` if the value names none. */
export function placeOfCode(
  value: unknown,
  key: string | readonly string[],
  item?: Pick<InspectedItem, "file" | "base">,
): CodePlace | undefined {
  if (typeof value === "string") {
    const [, file = value, name = "default"] = /^([^#]*)#(.*)$/s.exec(value) ?? [];
    return { file, path: [name] };
  }
  if (typeof value === "function") return { run: value as NonNullable<CodePlace["run"]> };
  if (!isRecord(value) || item?.file == null) return undefined;
  return { file: item.file, path: ["default", ...item.base.map(String), ...[key].flat()] };
}

/** The values of a tool's options: the definition's defaults, overridden by the user's. */
export function readOptions(
  declared: unknown,
  given: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const defaults = Object.entries(isRecord(declared) ? declared : {}).flatMap(([name, option]) =>
    isRecord(option) && option.default !== undefined ? [[name, option.default] as const] : [],
  );
  return Object.fromEntries([...defaults, ...Object.entries(given)]);
}

export type Outcome = { returned: Returned } | { thrown: Thrown };

export class HandlerError extends Error {
  override readonly name = "HandlerError";
  readonly thrown: Thrown;

  constructor(thrown: Thrown) {
    super(thrown.message);
    this.thrown = thrown;
  }
}

export function readOutcome(outcome: Outcome): Returned {
  if ("thrown" in outcome) throw new HandlerError(outcome.thrown);
  return outcome.returned;
}

/** Runs the code of one owner (a pack, or the host itself), in this process or in a child. */
export interface CodeRunner {
  /** Runs an `initialize` function once per process; every call settles as that run does. */
  initialize(place: CodePlace, context: { options: Readonly<Record<string, unknown>> }): Promise<void>;
  /** Loads code without running it; rejects if it cannot be loaded. */
  load(place: CodePlace): Promise<void>;
  /**
   * Runs a handler; only suggestions get a string. Rejects with a `HandlerError`, with the reason of `context.signal`, or with a
   * `CodeExitError` when the child process exits. What a handler returns that ignores the signal is dropped.
   */
  invoke(place: CodePlace, args: Record<string, unknown> | string, context: RunContext): Promise<Returned>;
  close(): Promise<void>;
}

export const processOfCode = "The process that runs the package's code";

/** The process that runs a pack's code exited, and every call in it failed. The tail is of stdout and stderr, without secrets. */
export class CodeExitError extends Error {
  override readonly name = "CodeExitError";
  readonly exit: UnexpectedExit;

  constructor(exit: UnexpectedExit) {
    super(`${processOfCode} ${describeExit(exit)}.`);
    this.exit = exit;
  }
}
