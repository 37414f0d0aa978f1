// The prompts and resources of packs, and what they suggest for arguments.
import { isRecord } from "../data/parse-json.ts";
import { matchUriTemplate, parseUriTemplate } from "../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../files/inspection-port.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { ServerCompletion } from "../mcp/client/server-calls.ts";
import type { Prompt } from "../mcp/client/server-lists.ts";
import { quote } from "../problems/index.ts";
import { type CodeUse, runHandler } from "../runtime/convert-result.ts";
import type { Returned } from "../runtime/handler-code.mjs";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "../runtime/mcp-shapes.ts";
import { type CodeOwner, placeOfCode } from "../runtime/tool-code.ts";
import type { PromptMessage, PromptResult, ReadAnswer, ResourceContents } from "../runtime/tool-result.ts";

type Variables = Readonly<Record<string, string>>;

export type PackPrompt = ReturnType<typeof createPackPrompt>;

/** A resource of a pack, or a template of resources. */
export type PackResource = ReturnType<typeof createPackResource>;

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** What a handler returned, but for bytes. Throws a failure for the caller if it is not JSON. */
function jsonOf(returned: Returned): unknown {
  if (returned.kind === "refused") throw new Error(returned.message);
  return returned.kind === "json"
    ? JSON.parse(returned.json)
    : "text" in returned
      ? returned.text
      : undefined;
}

export function createPackPrompt(item: InspectedItem) {
  const { content, handler: code, name, title, description, arguments: args, _meta } = item.definition ?? {};
  const meta = createEntryMeta(_meta, item.qualifiedName);
  const values = { name: textOf(name) ?? item.declaration.name, title, description, arguments: args };
  const listing = createEntry("prompts", { ...values, _meta: meta }) as unknown as Prompt;
  const shown = listing.description === undefined ? {} : { description: listing.description };
  const handler = placeOfCode(code, "handler", item);
  return {
    item,
    /** Its entry in `prompts/list`. */
    listing,
    /** Fills the content, or runs the handler. */
    async get(given: Variables, use: CodeUse): Promise<PromptResult> {
      /** Leaves out what clients cannot take. */
      const repair = ({ ...answer }: PromptResult): PromptResult => {
        const fault = repairResult("prompts/get", answer, use.leaveOut);
        if (fault === undefined) return answer;
        throw new Error(`The prompt did not return valid MCP messages: it ${fault}.`);
      };
      if (content !== undefined) {
        const names = (listing.arguments ?? []).map((argument) => argument.name);
        return repair({ messages: fillPrompt(content, given, names), ...shown });
      }
      if (handler === undefined) throw new Error("The prompt has no content.");
      const returned = await runHandler(use, handler, { ...given });
      return repair({ ...shown, ...readMessages(jsonOf(returned)) });
    },
  };
}

/** `{{name}}`, with spaces or without. `${{ … }}` is an expression instead. */
const placeholder = /(?<!\$)\{\{([^{}]+)\}\}/g;

/** A message of a prompt, whose content may be a string. */
function asMessage({ role, content }: Readonly<Record<string, unknown>>): PromptMessage {
  const isBlock = isRecord(content) && typeof content.type === "string";
  return {
    role: role === "assistant" ? "assistant" : "user",
    content: isBlock ? (content as PromptMessage["content"]) : { type: "text", text: String(content) },
  };
}

/** Replaces the placeholders of declared arguments, which `names` has, in all strings but keys. A string is a message of the user. */
export function fillPrompt(content: unknown, args: Variables, names: readonly string[]): PromptMessage[] {
  const fill = (value: unknown): unknown => {
    if (typeof value === "string")
      return value.replace(placeholder, (place: string, written: string) => {
        const name = written.trim();
        if (!names.includes(name)) return place;
        return Object.hasOwn(args, name) ? (args[name] ?? "") : "";
      });
    if (Array.isArray(value)) return value.map(fill);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry)]));
  };
  const messages = Array.isArray(content) ? content.filter(isRecord) : [{ content: String(content) }];
  return messages.map(({ role, content: inner }) => asMessage({ role, content: fill(inner) }));
}

/** The messages that a prompt's handler returned: a string, or `{ messages }`, whose contents may be strings. */
function readMessages(answer: unknown): PromptResult {
  if (typeof answer === "string") return { messages: [asMessage({ content: answer })] };
  if (!isRecord(answer) || !Array.isArray(answer.messages))
    throw new Error("The prompt's handler must return a string or an object with `messages`.");
  const messages = answer.messages.filter(isRecord).map(asMessage);
  const { description } = answer;
  return typeof description === "string" ? { messages, description } : { messages };
}

export function createPackResource(item: InspectedItem, owner: CodeOwner) {
  const { name, title, description, annotations, _meta, ...definition } = item.definition ?? {};
  const template = textOf(definition.uriTemplate);
  const uri = template ?? String(definition.uri);
  const parsed = template === undefined ? undefined : parseUriTemplate(template);
  const mimeType = textOf(definition.mimeType);
  const [text, file] = [textOf(definition.text), textOf(definition.file)];
  const handler = placeOfCode(definition.handler, "handler", item);
  /** The values of the variables in a URI; `undefined` for a URI of another resource. */
  const match = (asked: string): Variables | undefined => {
    if (parsed === undefined) return asked === uri ? {} : undefined;
    return "fault" in parsed ? undefined : matchUriTemplate(parsed, asked);
  };
  return {
    item,
    /** The URI, or the template. */
    uri,
    /** Its entry in `resources/list` or `resources/templates/list`. */
    listing: createEntry(template === undefined ? "resources" : "resourceTemplates", {
      [template === undefined ? "uri" : "uriTemplate"]: uri,
      name: textOf(name) ?? item.declaration.name,
      title,
      description,
      mimeType: definition.mimeType,
      annotations,
      _meta: createEntryMeta(_meta, item.qualifiedName),
    }),
    match,
    /** `undefined` if it has none. */
    watch: placeOfCode(definition.subscribe, "subscribe", item),
    /** Reads a URI that it matches. Rejects with the message of its handler, or with why its file cannot be read. */
    async read(asked: string, use: CodeUse): Promise<ReadAnswer> {
      const part = { uri: asked, ...(mimeType !== undefined && { mimeType }) };
      if (text !== undefined) return { contents: [{ ...part, text }], isStatic: true };
      if (file !== undefined) return { contents: [readFile(owner.root, file, part)], isStatic: true };
      if (handler === undefined) throw new Error("The resource has no content.");
      const returned = await runHandler(use, handler, { ...match(asked), uri: asked });
      return { contents: readContents(returned, part, use.leaveOut) };
    },
  };
}

type Part = Pick<ResourceContents, "uri" | "mimeType">;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Media types whose contents are not text, whatever their bytes are. */
const binaryType =
  /^(?:(?:image|audio|video|font)\/(?!.*\+xml)|application\/(?:octet-stream|pdf|zip|gzip)\b)/i;

const fileFaults = {
  absent: "it does not exist",
  outside: "it is outside the pack",
  tooLarge: "it is larger than 10 MiB",
};

/** The contents of a file: as text unless its media type or its bytes say that it is binary. */
function readFile(root: string, file: string, part: Part): ResourceContents {
  const read = inspectionPort.readFile(root, file, maximumResourceBytes);
  if (read.state !== "read") {
    const reason = read.state === "unusable" ? read.reason : fileFaults[read.state];
    throw new Error(`The resource's file ${quote(file)} cannot be read: ${reason}.`);
  }
  const { bytes } = read;
  try {
    if (!binaryType.test(part.mimeType ?? "") && !bytes.includes(0))
      return { ...part, text: utf8.decode(bytes) };
  } catch {
    // It is not UTF-8.
  }
  return { ...part, blob: Buffer.from(bytes).toString("base64") };
}

/** What a handler returned, with what it may leave out, and without what is invalid. */
function readContents(returned: Returned, part: Part, leaveOut?: LeaveOut): ResourceContents[] {
  if (returned.kind === "refused" && returned.bytes !== undefined) return [{ ...part, blob: returned.bytes }];
  const value = jsonOf(returned);
  if (typeof value === "string") return [{ ...part, text: value }];
  if (!isRecord(value) || !Array.isArray(value.contents))
    throw new Error("The resource's handler must return a string, bytes or an object with `contents`.");
  const contents = value.contents.map((one: unknown) => {
    const { uri = part.uri, text, blob } = isRecord(one) ? one : {};
    const isOne = [text, blob].filter((content) => typeof content === "string").length === 1;
    if (!isRecord(one) || typeof uri !== "string" || !isOne)
      throw new Error("Each of a resource's `contents` must have either `text` or `blob`, as a string.");
    return { ...(uri === part.uri ? part : {}), ...one, uri };
  });
  const result = { contents: contents as ResourceContents[] };
  const fault = repairResult("resources/read", result, leaveOut);
  if (fault === undefined) return result.contents;
  throw new Error(`The resource's contents are not valid MCP contents: it ${fault}.`);
}

/** What a prompt or a template suggests for an argument. Rejects with the message of its function. */
export async function suggestValues(
  item: InspectedItem,
  { argument: { name, value }, context }: Pick<ServerCompletion, "argument" | "context">,
  use: CodeUse,
): Promise<{ values: readonly unknown[] }> {
  const complete = item.definition?.complete;
  const source = isRecord(complete) && Object.hasOwn(complete, name) ? complete[name] : undefined;
  if (Array.isArray(source)) {
    const typed = value.toLowerCase();
    const isMeant = (one: unknown) => typeof one === "string" && one.toLowerCase().startsWith(typed);
    return { values: source.filter(isMeant) };
  }
  const place = placeOfCode(source, ["complete", name], item);
  if (place === undefined) return { values: [] };
  const asking = { ...use, context: { ...use.context, arguments: context.arguments } };
  const values = jsonOf(await runHandler(asking, place, value));
  if (!Array.isArray(values)) throw new Error("The function must return an array of strings.");
  return { values };
}
