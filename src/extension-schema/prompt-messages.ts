import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { textsOfBlock } from "./content-blocks.ts";
import { formatPath } from "./describe-fault.ts";
import { describeWritten } from "./pointer.ts";
import type { Fault } from "./shape-faults.ts";

const example = "Write messages as `{ role: user, content: Hello }`.";

/** A key that an object lacks, or whose value is not what is expected. */
function faultOf(owner: Path, key: string | number, expected: string, value: unknown, hint?: string): Fault {
  if (value === undefined)
    return { reason: `\`${key}\` is missing in ${formatPath(owner)}`, path: owner, hint };
  const path = [...owner, key];
  const isWord = typeof value === "string" && (key === "role" || key === "type");
  const found = isWord ? quote(value, 40) : describeWritten(value);
  return { reason: `${formatPath(path)} must be ${expected}, but it is ${found}`, path, hint };
}

type Written = Readonly<Record<string, unknown>>;

/** The values of the keys are strings, which may be empty. */
const findStringFaults = (object: Written, keys: readonly string[], path: Path): Fault[] =>
  keys
    .filter((key) => typeof object[key] !== "string")
    .map((key) => faultOf(path, key, "a string", object[key]));

/** Checks a content block. Clients reject a whole prompt because of one block of unknown type. */
function findBlockFaults(block: Written, path: Path): Fault[] {
  const { type, resource } = block;
  const keys = textsOfBlock.get(type);
  if (keys === undefined) {
    const types = listOf([...textsOfBlock.keys()].map((one) => `\`${one}\``));
    return [faultOf(path, "type", types, type, example)];
  }
  if (type !== "resource") return findStringFaults(block, keys, path);
  if (!isRecord(resource)) return [faultOf(path, "resource", "an object", resource)];
  const content = resource.text === undefined && resource.blob !== undefined ? "blob" : "text";
  return findStringFaults(resource, ["uri", content], [...path, "resource"]);
}

function findMessageFaults(message: unknown, index: number): Fault[] {
  if (!isRecord(message)) return [faultOf(["content"], index, "an object", message, example)];
  const path = ["content", index];
  const { role, content } = message;
  const faults: Fault[] = [];
  if (role !== "user" && role !== "assistant") {
    const isSystem = role === "system";
    const hint = isSystem ? "MCP has no system role: use the first message of the role `user`." : example;
    faults.push(faultOf(path, "role", "`user` or `assistant`", role, hint));
  }
  if (typeof content === "string") return faults;
  if (isRecord(content) && typeof content.type === "string" && content.type.trim() !== "")
    return [...faults, ...findBlockFaults(content, [...path, "content"])];
  const expected = "a string or one content block with a `type`";
  return [...faults, faultOf(path, "content", expected, content, example)];
}

/** Limit on the reported faults of one prompt. */
const maximumFaults = 20;

/** Finds faults in a prompt's `content`: a string or an array of messages. */
export function findContentFaults(content: unknown): Fault[] {
  if (typeof content === "string" || content === undefined) return [];
  if (!Array.isArray(content))
    return [faultOf([], "content", "a string or an array of messages", content, example)];
  return content.flatMap(findMessageFaults).slice(0, maximumFaults);
}

// Placeholders for arguments in a prompt's content: `{{name}}`, with optional spaces. `${{ … }}` is an expression instead.

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

function createExpression(names: Iterable<string>, end: string): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  if (choices.length === 0) return undefined;
  return new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*${end}`, "g");
}

/** Matches placeholders for these names, which are the first group; `undefined` if there are no names. */
export const placesFor = (names: Iterable<string>): RegExp | undefined => createExpression(names, "\\}\\}");

/** The same for placeholders without their second closing brace. */
export const unclosedPlacesFor = (names: Iterable<string>): RegExp | undefined =>
  createExpression(names, "\\}(?!\\})");
