import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { textsOfBlock } from "./content-blocks.ts";
import { type Fault, formatPath } from "./describe-fault.ts";
import { describeWritten } from "./pointer.ts";

const example = "A message is `{ role: user, content: Hello }`.";

function describeRole(role: unknown): string {
  return typeof role === "string" ? quote(role, 40) : describeWritten(role);
}

type Written = Readonly<Record<string, unknown>>;
type FaultPath = Path;

/** That an object has strings, which may be empty, under the keys. */
function* checkStrings(object: Written, keys: readonly string[], path: FaultPath): Generator<Fault> {
  for (const key of keys) {
    const value = object[key];
    if (typeof value === "string") continue;
    const isMissing = value === undefined;
    const at = isMissing ? [...path] : [...path, key];
    const reason = isMissing
      ? `${formatPath(at)} lacks \`${key}\``
      : `${formatPath(at)} must be a text, but is ${describeWritten(value)}`;
    yield { reason, path: at };
  }
}

/** A block of MCP content: clients refuse the whole prompt for one that MCP does not know. */
function* checkBlock(block: Written, path: FaultPath): Generator<Fault> {
  const keys = textsOfBlock.get(block.type);
  if (keys === undefined) {
    const at = [...path, "type"];
    const types = listOf([...textsOfBlock.keys()].map((type) => `\`${type}\``));
    const reason = `${formatPath(at)} must be ${types}, but is ${quote(String(block.type), 40)}`;
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
    yield { reason: `${formatPath(path)} lacks \`resource\``, path: [...path] };
  else yield { reason: `${formatPath(at)} must be a map, but is ${describeWritten(resource)}`, path: at };
}

function* checkMessage(message: unknown, index: number): Generator<Fault> {
  const path = ["content", index];
  if (!isRecord(message)) {
    const reason = `${formatPath(path)} must be a map, but is ${describeWritten(message)}`;
    yield { reason, path, hint: example };
    return;
  }
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    const isMissing = role === undefined;
    const at = isMissing ? path : [...path, "role"];
    const reason = isMissing
      ? `${formatPath(path)} lacks \`role\``
      : `${formatPath(at)} must be \`user\` or \`assistant\`, but is ${describeRole(role)}`;
    const hint =
      role === "system" ? "MCP knows no such role: say it in the first message of the user." : example;
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
    ? `${formatPath(path)} lacks \`content\``
    : `${formatPath(at)} must be a text or one content block with a \`type\`, but is ${describeWritten(content)}`;
  yield { reason, path: at, hint: example };
}

/** Broken messages that are reported. */
const maximumFaults = 20;

/** What is wrong with the `content` of a prompt: a string, or a list of messages. Faults stand at their message. */
export function findContentFaults(content: unknown): Fault[] {
  if (typeof content === "string" || content === undefined) return [];
  if (!Array.isArray(content)) {
    const reason = `\`content\` must be a text or a list of messages, but is ${describeWritten(content)}`;
    return [{ reason, path: ["content"], hint: example }];
  }
  return content.flatMap((message, index) => [...checkMessage(message, index)]).slice(0, maximumFaults);
}

// Places for arguments in a prompt's content: `{{name}}`, white space allowed, but no `${{ … }}`, which others fill in.

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

function createExpression(names: Iterable<string>, end: string): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  if (choices.length === 0) return undefined;
  return new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*${end}`, "g");
}

/** Finds places for these names, whatever characters they have; the name is the first group. `undefined`: there can be none. */
export const placesFor = (names: Iterable<string>): RegExp | undefined => createExpression(names, "\\}\\}");

/** The same for places that lack their second brace. */
export const unclosedPlacesFor = (names: Iterable<string>): RegExp | undefined =>
  createExpression(names, "\\}(?!\\})");
