import { isRecord } from "../data/parse-json.ts";
import { matchUriTemplate, parseUriTemplate } from "../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { quote } from "../problems/index.ts";
import type { HandlerContext } from "./handler-context.ts";
import type { InputRequired } from "./input-requests.ts";
import { requireInputRequired } from "./input-rounds.ts";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "./mcp-shapes.ts";
import { describeFile, type ReadAnswer, type ResourceContents } from "./resource-contents.ts";
import type { Returned } from "./returned-value.mjs";
import { type CodePlace, type OutcomeRunner, placeOfCode } from "./tool-code.ts";
import type { CodeOwner } from "./tool-source.ts";

type Variables = Readonly<Record<string, string>>;

/** What runs a pack's code, and what the code gets. */
export interface CodeUse {
  runner(): Promise<OutcomeRunner>;
  context: HandlerContext;
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

function readFile(root: string, file: string, uri: string, mimeType: string | undefined): ReadAnswer {
  const read = createNodeInspectionPort().readFile(root, file, maximumResourceBytes);
  if (read.state === "read") return { contents: [describeFile(uri, mimeType, read.bytes)], isStatic: true };
  const reasons = { absent: "it does not exist", outside: "it is outside the pack" };
  const reason =
    read.state === "unusable"
      ? read.reason
      : read.state === "tooLarge"
        ? "it is larger than 10 MiB"
        : reasons[read.state];
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
    const type = mimeType === undefined || own !== uri ? {} : { mimeType };
    return { ...type, ...part, uri: own };
  });
  const result = { contents };
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
  const type = mimeType === undefined ? {} : { mimeType };
  switch (returned.kind) {
    case "text":
      return { contents: [{ uri, ...type, text: returned.text }], isStatic: false };
    case "json":
      return { contents: readContents(JSON.parse(returned.json), uri, mimeType, leaveOut), isStatic: false };
    case "input":
      return requireInputRequired(returned.json);
    case "refused":
      if (returned.bytes === undefined) throw new Error(returned.message);
      return { contents: [{ uri, ...type, blob: returned.bytes }], isStatic: false };
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
      const type = mimeType === undefined ? {} : { mimeType };
      if (text !== undefined) return { contents: [{ uri: asked, ...type, text }], isStatic: true };
      if (file !== undefined) return readFile(owner.root, file, asked, mimeType);
      if (handler === undefined) throw new Error("The resource has no content.");
      const outcome = await (await runner()).invoke(handler, { ...variables, uri: asked }, context);
      if ("thrown" in outcome) throw new Error(outcome.thrown.message);
      return readReturned(outcome.returned, asked, mimeType, leaveOut);
    },
  };
}

/** The first resource that has a URI; an exact one before templates. */
export function findResource(
  resources: readonly PackResource[],
  uri: string,
): { resource: PackResource; variables: Variables } | undefined {
  for (const isTemplate of [false, true]) {
    for (const resource of resources) {
      const variables = resource.isTemplate === isTemplate ? resource.match(uri) : undefined;
      if (variables !== undefined) return { resource, variables };
    }
  }
  return undefined;
}
