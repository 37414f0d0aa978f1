import { isRecord } from "../data/parse-json.ts";
import { matchUriTemplate, parseUriTemplate } from "../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { quote } from "../problems/index.ts";
import type { InputRequired, RunContext } from "./handler-context.ts";
import { readInputRequired } from "./input-rounds.ts";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "./mcp-shapes.ts";
import type { Returned } from "./returned-value.mjs";
import { type CodeOwner, type CodePlace, type OutcomeRunner, placeOfCode } from "./tool-code.ts";
import type { ResourceContents, ResourceResult } from "./tool-result.ts";

export interface ReadAnswer extends ResourceResult {
  /** Whether it is the same for each client and read, so that clients may keep it as long as lists. */
  isStatic: boolean;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Media types whose contents are not text, whatever their bytes are. */
const binaryType =
  /^(?:(?:image|audio|video|font)\/(?!.*\+xml)|application\/(?:octet-stream|pdf|zip|gzip)\b)/i;

/** The text in bytes; `undefined` if they are not text. */
function readText(bytes: Uint8Array, mimeType: string | undefined): string | undefined {
  if (mimeType !== undefined && binaryType.test(mimeType)) return undefined;
  try {
    return bytes.includes(0) ? undefined : utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** What contents begin with. */
const partOf = (uri: string, mimeType: string | undefined) =>
  mimeType === undefined ? { uri } : { uri, mimeType };

/** The contents of a file: as text unless its media type or its bytes say that it is binary. */
export function describeFile(uri: string, mimeType: string | undefined, bytes: Uint8Array): ResourceContents {
  const part = partOf(uri, mimeType);
  const text = readText(bytes, mimeType);
  return text === undefined
    ? { ...part, blob: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") }
    : { ...part, text };
}

type Variables = Readonly<Record<string, string>>;

/** What runs code for a call, and what the code gets. */
export interface CodeUse {
  runner(): Promise<OutcomeRunner>;
  context: RunContext;
  /** Called with what is left out of the answer. */
  leaveOut?: LeaveOut;
}

/** A resource of a pack, or a template of resources. */
export interface PackResource {
  item: InspectedItem;
  owner: CodeOwner;
  /** The URI, or the template. */
  uri: string;
  isTemplate: boolean;
  /** Its entry in `resources/list` or `resources/templates/list`. */
  listing: Readonly<Record<string, unknown>>;
  /** The values of the variables in a URI; `undefined` for a URI of another resource. */
  match(uri: string): Variables | undefined;
  /** Its file, relative to the pack; `undefined` if it has none. */
  file: string | undefined;
  /** Where its watch is; `undefined` if it has none. */
  watch: CodePlace | undefined;
  /** Reads a URI that it matches. Rejects with the message of its handler, or with why its file cannot be read. */
  read(
    uri: string,
    variables: Variables,
    use: CodeUse,
  ): Promise<ReadAnswer | { inputRequired: InputRequired }>;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

function describeResource(item: InspectedItem, uri: string, isTemplate: boolean) {
  const { name, title, description, mimeType, annotations, _meta } = item.definition ?? {};
  return createEntry(isTemplate ? "resourceTemplates" : "resources", {
    [isTemplate ? "uriTemplate" : "uri"]: uri,
    name: textOf(name) ?? item.declaration.name,
    title,
    description,
    mimeType,
    annotations,
    _meta: createEntryMeta(_meta, item.qualifiedName),
  });
}

const fileFaults = {
  absent: "it does not exist",
  outside: "it is outside the pack",
  tooLarge: "it is larger than 10 MiB",
};

function readFile(root: string, file: string, uri: string, mimeType: string | undefined): ReadAnswer {
  const read = createNodeInspectionPort().readFile(root, file, maximumResourceBytes);
  if (read.state === "read") return { contents: [describeFile(uri, mimeType, read.bytes)], isStatic: true };
  const reason = read.state === "unusable" ? read.reason : fileFaults[read.state];
  throw new Error(`The resource's file ${quote(file)} cannot be read: ${reason}.`);
}

const notAllowed = "The resource's handler must return a string, bytes or an object with `contents`.";

/** Fills in what a handler may leave out, and leaves out what is invalid. */
function readContents(
  value: unknown,
  uri: string,
  mimeType: string | undefined,
  leaveOut?: LeaveOut,
): ResourceContents[] {
  if (!isRecord(value) || !Array.isArray(value.contents)) throw new Error(notAllowed);
  const contents = value.contents.map((part: unknown) => {
    const { uri: own = uri, text, blob } = isRecord(part) ? part : {};
    const isOne = [text, blob].filter((one) => typeof one === "string").length === 1;
    if (!isRecord(part) || typeof own !== "string" || !isOne)
      throw new Error("Each of a resource's `contents` must have either `text` or `blob`, as a string.");
    return { ...partOf(own, own === uri ? mimeType : undefined), ...part, uri: own };
  });
  const result = { contents: contents as ResourceContents[] };
  const fault = repairResult("resources/read", result, leaveOut);
  if (fault !== undefined)
    throw new Error(`The resource's contents are not valid MCP contents: it ${fault}.`);
  return result.contents;
}

async function readReturned(
  returned: Returned,
  uri: string,
  mimeType: string | undefined,
  leaveOut?: LeaveOut,
): Promise<ReadAnswer | { inputRequired: InputRequired }> {
  const part = partOf(uri, mimeType);
  switch (returned.kind) {
    case "text":
      return { contents: [{ ...part, text: returned.text }], isStatic: false };
    case "json":
      return { contents: readContents(JSON.parse(returned.json), uri, mimeType, leaveOut), isStatic: false };
    case "input":
      return readInputRequired(returned.json);
    case "refused":
      if (returned.bytes === undefined) throw new Error(returned.message);
      return { contents: [{ ...part, blob: returned.bytes }], isStatic: false };
    case "nothing":
      throw new Error(notAllowed);
  }
}

/** A resource of a valid definition. */
export function createPackResource(item: InspectedItem, owner: CodeOwner): PackResource {
  const definition = item.definition ?? {};
  const template = textOf(definition.uriTemplate);
  const uri = template ?? String(definition.uri);
  const parsed = template === undefined ? undefined : parseUriTemplate(template);
  const mimeType = textOf(definition.mimeType);
  const [text, file] = [textOf(definition.text), textOf(definition.file)];
  const handler = placeOfCode(definition.handler, owner.root, "handler", item);
  return {
    item,
    owner,
    uri,
    isTemplate: template !== undefined,
    listing: describeResource(item, uri, template !== undefined),
    match(asked) {
      if (parsed === undefined) return asked === uri ? {} : undefined;
      return "fault" in parsed ? undefined : matchUriTemplate(parsed, asked);
    },
    file,
    watch: placeOfCode(definition.subscribe, owner.root, "subscribe", item),
    async read(asked, variables, { runner, context, leaveOut }) {
      if (text !== undefined) return { contents: [{ ...partOf(asked, mimeType), text }], isStatic: true };
      if (file !== undefined) return readFile(owner.root, file, asked, mimeType);
      if (handler === undefined) throw new Error("The resource has no content.");
      const outcome = await (await runner()).invoke(handler, { ...variables, uri: asked }, context);
      if ("thrown" in outcome) throw new Error(outcome.thrown.message);
      return readReturned(outcome.returned, asked, mimeType, leaveOut);
    },
  };
}

/**
 * The values that a prompt or a template suggests for an argument, as `complete` of its definition says. Rejects with the
 * message of its function.
 */
export async function suggestValues(
  item: InspectedItem,
  owner: CodeOwner,
  request: {
    argument: { name: string; value: string };
    context: { arguments: Readonly<Record<string, string>> };
  },
  { runner, context }: CodeUse,
): Promise<readonly unknown[]> {
  const { name, value } = request.argument;
  const complete = item.definition?.complete;
  const source = isRecord(complete) && Object.hasOwn(complete, name) ? complete[name] : undefined;
  if (Array.isArray(source)) {
    const typed = value.toLowerCase();
    return source.filter((one) => typeof one === "string" && one.toLowerCase().startsWith(typed));
  }
  const place = placeOfCode(source, owner.root, ["complete", name], item);
  if (place === undefined) return [];
  const use = { ...context, arguments: request.context.arguments };
  const outcome = await (await runner()).invoke(place, value, use);
  if ("thrown" in outcome) throw new Error(outcome.thrown.message);
  const values = outcome.returned.kind === "json" ? JSON.parse(outcome.returned.json) : undefined;
  if (!Array.isArray(values)) throw new Error("The function must return an array of strings.");
  return values;
}
