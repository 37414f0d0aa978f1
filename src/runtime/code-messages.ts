// Messages from the child process that runs a pack's code, parsed as hostile input.
import { isRecord } from "../data/parse-json.ts";
import type { Outcome } from "./tool-code.ts";

/** A write to memory; `null` deletes. */
export type MemoryWrite = readonly [key: string, value: string | null];

export type ChildMessage =
  | { kind: "done"; id: number; outcome: Outcome; writes: readonly MemoryWrite[] }
  | { kind: "log"; id: number; level: string; data: unknown }
  | { kind: "progress"; id: number; progress: number; total?: number; message?: string }
  | {
      kind: "callTool";
      id: number;
      number: number;
      name: string;
      args: Record<string, unknown>;
      writes: readonly MemoryWrite[];
    }
  | { kind: "changed"; id: number }
  | { kind: "aborted"; id: number }
  | { kind: "late"; message: string };

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";
const isOptional = (value: unknown, is: (value: unknown) => boolean) => value === undefined || is(value);

const isWrite = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && (value[1] === null || isText(value[1]));

function isReturned(value: unknown): boolean {
  if (!isRecord(value)) return false;
  switch (value.kind) {
    case "nothing":
      return true;
    case "text":
      return isText(value.text);
    case "json":
    case "input":
      return isText(value.json);
    default:
      return value.kind === "refused" && isText(value.message) && isOptional(value.bytes, isText);
  }
}

const isThrown = (value: unknown): boolean =>
  isRecord(value) &&
  isText(value.message) &&
  isOptional(value.code, (code) => isText(code) || isNumber(code)) &&
  isOptional(value.data, isText);

const isOutcome = (value: unknown): boolean =>
  isRecord(value) && (value.thrown === undefined ? isReturned(value.returned) : isThrown(value.thrown));

const fits: Readonly<Record<ChildMessage["kind"], (message: Record<string, unknown>) => boolean>> = {
  done: ({ outcome, writes }) => isOutcome(outcome) && Array.isArray(writes) && writes.every(isWrite),
  log: ({ level }) => isText(level),
  progress: ({ progress, total, message }) =>
    isNumber(progress) && isOptional(total, isNumber) && isOptional(message, isText),
  callTool: ({ number, name, args, writes }) =>
    isNumber(number) && isText(name) && isRecord(args) && Array.isArray(writes) && writes.every(isWrite),
  changed: () => true,
  aborted: () => true,
  late: ({ message }) => isText(message),
};

/** The message on a line of the child's output; `undefined` if the line is not a valid message. */
export function readChildMessage(line: string): ChildMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(message) || !isText(message.kind) || !Object.hasOwn(fits, message.kind)) return undefined;
  if (message.kind !== "late" && !isNumber(message.id)) return undefined;
  return fits[message.kind as ChildMessage["kind"]](message) ? (message as ChildMessage) : undefined;
}
