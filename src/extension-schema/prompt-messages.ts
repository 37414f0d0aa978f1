import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { textsOfBlock } from "./content-blocks.ts";
import { formatPath } from "./describe-fault.ts";
import { describeWritten } from "./pointer.ts";
import type { Fault } from "./shape-faults.ts";

const example = "Write messages as `{ role: user, content: Hello }`.";

function describeRole(role: unknown): string {
  return typeof role === "string" ? quote(role, 40) : describeWritten(role);
}

type Written = Readonly<Record<string, unknown>>;
type FaultPath = Path;

/** Checks that the values of the keys are strings, which may be empty. */
function* checkStrings(object: Written, keys: readonly string[], path: FaultPath): Generator<Fault> {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === "string") continue;
    const isMissing = value === undefined;
    const at = isMissing ? [...path] : [...path, key];
    const reason = isMissing
      ? `\`${key}\` is missing in ${formatPath(at)}`
      : `${formatPath(at)} must be a string, but it is ${describeWritten(value)}`;
    yield { reason, path: at };
  }
}

/** Checks a content block. Clients reject a whole prompt because of one block of unknown type. */
function* checkBlock(block: Written, path: FaultPath): Generator<Fault> {
  const keys = textsOfBlock.get(block.type);
  if (keys === undefined) {
    const at = [...path, "type"];
    const types = listOf([...textsOfBlock.keys()].map((type) => `\`${type}\``));
    const reason = `${formatPath(at)} must be ${types}, but it is ${quote(String(block.type), 40)}`;
    yield { reason, path: at, hint: example };
    return;
  }
  yield* checkStrings(block, keys, path);
  if (block.type !== "resource") return;
  const { resource } = block;
  const at = [...path, "resource"];
  if (isRecord(resource)) {
    const content = resource.text === undefined && resource.blob !== undefined ? "blob" : "text";
    yield* checkStrings(resource, ["uri", content], at);
  } else if (resource === undefined)
    yield { reason: `\`resource\` is missing in ${formatPath(path)}`, path: [...path] };
  else
    yield { reason: `${formatPath(at)} must be an object, but it is ${describeWritten(resource)}`, path: at };
}

function* checkMessage(message: unknown, index: number): Generator<Fault> {
  const path = ["content", index];
  if (!isRecord(message)) {
    const reason = `${formatPath(path)} must be an object, but it is ${describeWritten(message)}`;
    yield { reason, path, hint: example };
    return;
  }
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    const isMissing = role === undefined;
    const at = isMissing ? path : [...path, "role"];
    const reason = isMissing
      ? `\`role\` is missing in ${formatPath(path)}`
      : `${formatPath(at)} must be \`user\` or \`assistant\`, but it is ${describeRole(role)}`;
    const hint =
      role === "system" ? "MCP has no system role: use the first message of the role `user`." : example;
    yield { reason, path: at, hint };
  }
  if (typeof content === "string") return;
  if (isRecord(content) && typeof content.type === "string" && content.type.trim() !== "") {
    yield* checkBlock(content, [...path, "content"]);
    return;
  }
  const isMissing = content === undefined;
  const at = isMissing ? path : [...path, "content"];
  const reason = isMissing
    ? `\`content\` is missing in ${formatPath(path)}`
    : `${formatPath(at)} must be a string or one content block with a \`type\`, but it is ${describeWritten(content)}`;
  yield { reason, path: at, hint: example };
}

/** Limit on the reported faults of one prompt. */
const maximumFaults = 20;

/** Finds faults in a prompt's `content`: a string or an array of messages. */
export function findContentFaults(content: unknown): Fault[] {
  if (typeof content === "string" || content === undefined) return [];
  if (!Array.isArray(content)) {
    const reason = `\`content\` must be a string or an array of messages, but it is ${describeWritten(content)}`;
    return [{ reason, path: ["content"], hint: example }];
  }
  return content.flatMap((message, index) => [...checkMessage(message, index)]).slice(0, maximumFaults);
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
