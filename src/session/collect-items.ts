// What packs and the host offer that the host runs, and what their prompts and resources answer.
import { isUtf8 } from "node:buffer";
import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord, textOrNull } from "../data/parse-json.ts";
import { matchUriTemplate, parseUriTemplate } from "../extension-schema/uri-template.ts";
import { maximumResourceBytes } from "../files/inspection-port.ts";
import { inspectionPort } from "../files/node-inspection-port.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { ServerCompletion } from "../mcp/client/server-calls.ts";
import type { Prompt } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, quote, TrailblazeError, withoutUndefined } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { listOutside } from "../runtime/apps.ts";
import { createBundleTools, entryNamesOf, type RunnableTool } from "../runtime/bundle.ts";
import { type CodeUse, runHandler } from "../runtime/convert-result.ts";
import type { Returned } from "../runtime/handler-code.mjs";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "../runtime/mcp-shapes.ts";
import { describeSource } from "../runtime/server-launches.ts";
import { type CodeOwner, placeOfCode, readOptions, type ToolSource } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import type { PromptMessage, PromptResult, ReadAnswer, ResourceContents } from "../runtime/tool-result.ts";
import type { CheckedPack } from "../validate/finding.ts";
import {
  type Contribution,
  contribute,
  describeUnusable,
  isOf,
  isRefusal,
  labelOf,
  type ResourceRoute,
  type SessionItem,
  type SessionPrompt,
  type SessionResource,
  type SessionTool,
  type ToolItem,
} from "./items.ts";

/** `_meta` without the keys of Trailblaze, and with `more`; `undefined` if nothing is left. */
function metaOfAuthor(meta: unknown, more: object = {}): Record<string, unknown> | undefined {
  const own = Object.entries(isRecord(meta) ? meta : {});
  const entries = [...own.filter(([key]) => !key.startsWith("trailblaze/")), ...Object.entries(more)];
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** A tool with a valid definition or a server's entry for it, and what is wrong with its `_meta`. `more`: of ours, in `_meta`. */
export function createTool(
  shown: Pick<SessionTool, "name" | "qualifiedName" | "source">,
  definition: object,
  route: ToolItem["route"],
  more?: object,
): { tool: ToolItem; faults: Problem[] } {
  const listing = listOutside(definition as Readonly<Record<string, unknown>>, labelOf(route));
  const { title, description, annotations, _meta } = listing;
  const { meta, problems: faults } = readToolMeta(_meta);
  const described: SessionTool = withoutUndefined({
    ...shown,
    title: textOrNull(title) ?? undefined,
    description: textOrNull(description) ?? undefined,
    ...readSchemas(listing),
    annotations: isRecord(annotations) ? annotations : undefined,
    _meta: metaOfAuthor(_meta, more),
    isForLlm: meta.isForLlm,
    isRecordable: meta.isRecordable,
    toolsets: [],
  });
  return { tool: { kind: "tool", shown: described, listing, meta, route }, faults };
}

const readSchemas = ({ inputSchema, outputSchema }: Readonly<Record<string, unknown>>) => ({
  inputSchema: { ...(isRecord(inputSchema) ? inputSchema : {}), type: "object" as const },
  outputSchema: isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? outputSchema : undefined,
});

export const describePrompt = (
  shown: Pick<SessionPrompt, "name" | "qualifiedName" | "source">,
  { title, description, arguments: args = [] }: Prompt,
  _meta?: SessionPrompt["_meta"],
): SessionPrompt => withoutUndefined({ ...shown, title, description, arguments: args, _meta });

/** A resource as it is listed, or a template. */
export function createResource(
  source: ToolSource,
  listed: Readonly<Record<string, unknown>>,
  route: ResourceRoute,
): SessionItem {
  const listing = listOutside(listed, labelOf(route));
  const { icons: _, size: __, _meta, ...others } = listing as unknown as SessionResource & typeof listed;
  const shown = withoutUndefined({ ...others, _meta: metaOfAuthor(_meta), source });
  return { kind: "resource", shown, listing, route };
}

/**
 * Adds a tool with the options that the config has for it, and tells of those that it does not declare. Returns what is wrong with
 * its `_meta`.
 */
function addTool(
  { items, problems }: Contribution,
  item: InspectedItem,
  source: ToolSource,
  owner: CodeOwner,
  config: SessionConfig,
): Problem[] {
  const { qualifiedName, declaration } = item;
  const definition = item.definition ?? {};
  const placeOf = (key: "handler" | "initialize") => placeOfCode(definition[key], key, item);
  const handler = placeOf("handler");
  if (handler === undefined) return [];
  const given = config.options.get(qualifiedName);
  const declared = definition.options;
  for (const key of Object.keys(given ?? {})) {
    if (isRecord(declared) && Object.hasOwn(declared, key)) continue;
    const reason = `tool "${qualifiedName}" has no option "${key}"`;
    problems.push(createProblem("InvalidConfig", { reason }, { path: ["options", qualifiedName, key] }));
  }
  const name = textOrNull(definition.name) ?? declaration.name;
  const code = {
    names: [name, qualifiedName],
    owner,
    handler,
    initialize: placeOf("initialize"),
    options: readOptions(declared, given),
    ...readSchemas(definition),
  };
  const route = { by: "code", owner, id: name, code } as const;
  const { tool, faults } = createTool({ name, qualifiedName, source }, definition, route);
  items.push(tool);
  return faults;
}

/** What a pack offers that the host runs, but for its bundles, and what of that cannot be used. */
export function collectPack(
  { inspected, unusable }: CheckedPack,
  config: SessionConfig,
  owner: CodeOwner,
): Contribution {
  const contribution = contribute();
  for (const item of inspected.items) {
    const { definition, qualifiedName, declaration } = item;
    const { kind } = declaration;
    const source = describeSource(inspected, item);
    const problem = unusable.get(item);
    const name = textOrNull(definition?.name) ?? declaration.name;
    const add = (one: SessionItem) => contribution.items.push(one);
    if (definition === null || problem !== undefined) {
      // Those are told of where they would start.
      if (kind !== "server") contribution.skipped.push(describeUnusable(kind, name, source, problem));
    } else if (kind === "tool") {
      addTool(contribution, item, source, owner, config);
    } else if (kind === "prompt") {
      const code = createPackPrompt(item);
      const { listing } = code;
      const shown = describePrompt({ name, qualifiedName, source }, listing);
      add({ kind, shown, listing, route: { by: "code", owner, id: name, code } });
    } else if (item.skill !== undefined) {
      const { files, entry: listing } = item.skill;
      const { description } = listing.frontmatter;
      const shown = { name, qualifiedName, description, source, files };
      const route = { by: "code", owner, id: listing.uri, code: item.skill } as const;
      add({ kind: "skill", shown, listing, route });
    } else if (item.shape === "resource") {
      const code = createPackResource(item, owner);
      add(createResource(source, code.listing, { by: "code", owner, id: code.uri, code }));
    }
  }
  return contribution;
}

/** The built-ins, those of the config first. Their modules are in the config's folder. */
export async function collectBuiltIns(
  builtIns: readonly BuiltInDefinition[],
  config: SessionConfig,
): Promise<Contribution> {
  const contribution = contribute();
  if (builtIns.length === 0) return contribution;
  const { checkOwnTools } = await import("../validate/check-packs.ts");
  const { items, unusable } = await checkOwnTools(config.directory, builtIns);
  const owner: CodeOwner = { pack: undefined, root: config.directory };
  for (const [index, item] of items.entries()) {
    const { name } = item.declaration;
    const isOfConfig = index < config.builtIns.length;
    const source: ToolSource = {
      type: "builtIn",
      item: name,
      ...(isOfConfig && config.file && { file: config.file }),
    };
    const fault = unusable.get(item);
    if (fault !== undefined) contribution.skipped.push(describeUnusable("tool", name, source, fault));
    const faults = fault === undefined ? addTool(contribution, item, source, owner, config) : [fault];
    // A problem's place has no key for a built-in.
    for (const { path = [], ...problem } of faults) {
      const message = `Tool ${quote(name)}: ${problem.message}`;
      const place = isOfConfig && { path: ["builtIns", index, ...path] };
      contribution.problems.push({ ...problem, message, ...place });
    }
  }
  return contribution;
}

/** The entries of the bundles of each pack, which may run the code of other tools, but not of those that are not approved. */
export function collectBundles(
  packs: readonly (CheckedPack & { owner: CodeOwner })[],
  offered: readonly Contribution[],
  registry: Registry,
): Promise<Contribution[]> {
  const known = new Map<string, RunnableTool | Problem>();
  for (const [{ qualifiedName }, problem] of packs.flatMap(({ unusable }) => [...unusable]))
    if (isRefusal(problem)) known.set(qualifiedName, problem);
  for (const { shown, route } of offered.flatMap(({ items }) => items.filter(isOf("tool"))))
    if (route.by === "code" && shown.qualifiedName !== null) known.set(shown.qualifiedName, route.code);
  const ofPacks = packs.map(async ({ inspected, unusable, owner }) => {
    const contribution = contribute();
    const { pack, items } = inspected;
    for (const item of items) {
      if (item.shape !== "toolsBundle") continue;
      const source = describeSource(inspected, item);
      const broken = unusable.get(item);
      const findTool = (reference: string) => {
        try {
          const name = registry.resolve(reference, { from: pack, kind: "tool" }).qualifiedName;
          return known.get(name) ?? createProblem("ToolNotFound", { name: reference, nearest: [] });
        } catch (error) {
          if (error instanceof TrailblazeError) return error.problem;
          throw error;
        }
      };
      const { tools, problems } = broken
        ? { tools: [], problems: [] }
        : await createBundleTools(item, owner, findTool);
      contribution.problems.push(...problems);
      const fault = broken ?? problems.find(({ severity }) => severity === "error");
      for (const name of fault ? entryNamesOf(item) : [])
        contribution.skipped.push(describeUnusable("tool", name, source, fault));
      const { kind, name: bundle } = item.declaration;
      for (const code of tools) {
        const { name } = code.entry;
        const route = { by: "code", owner, id: name, code } as const;
        const { tool, faults } = createTool({ name, qualifiedName: null, source }, code.entry, route);
        const placed = faults.map((fault) => ({ ...fault, pack: pack.name, kind, item: bundle }));
        contribution.problems.push(...placed);
        contribution.items.push({ ...tool, bundle: item.qualifiedName });
      }
    }
    return contribution;
  });
  return Promise.all(ofPacks);
}

type Variables = Readonly<Record<string, string>>;

export type PackPrompt = ReturnType<typeof createPackPrompt>;

/** A resource of a pack, or a template of resources. */
export type PackResource = ReturnType<typeof createPackResource>;

/** What a handler returned, but for bytes. Throws a failure for the caller if it is not JSON. */
function jsonOf(returned: Returned): unknown {
  if (returned.kind === "refused") throw new Error(returned.message);
  if (returned.kind === "json") return JSON.parse(returned.json);
  return "text" in returned ? returned.text : undefined;
}

function createPackPrompt(item: InspectedItem) {
  const { content, handler: code, name, title, description, arguments: args, _meta } = item.definition ?? {};
  const meta = createEntryMeta(_meta, item.qualifiedName);
  const values = { name: textOrNull(name) ?? item.declaration.name, title, description, arguments: args };
  const listing = createEntry("prompts", { ...values, _meta: meta }) as unknown as Prompt;
  const shown = listing.description === undefined ? {} : { description: listing.description };
  const handler = placeOfCode(code, "handler", item);
  return {
    item,
    /** Its entry in `prompts/list`. */
    listing,
    /** Fills the content, or runs the handler. */
    async get(given: Variables, use: CodeUse): Promise<PromptResult> {
      const answer = { ...shown, messages: [] as PromptMessage[] };
      const names = (listing.arguments ?? []).map((argument) => argument.name);
      if (content !== undefined) answer.messages = fillPrompt(content, given, names);
      else if (handler === undefined) throw new Error("The prompt has no content.");
      else Object.assign(answer, readMessages(jsonOf(await runHandler(use, handler, { ...given }))));
      // Leaves out what clients cannot take.
      const fault = repairResult("prompts/get", answer, use.leaveOut);
      if (fault === undefined) return answer;
      throw new Error(`The prompt did not return valid MCP messages: it ${fault}.`);
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

function createPackResource(item: InspectedItem, owner: CodeOwner) {
  const { name, title, description, annotations, _meta, ...definition } = item.definition ?? {};
  const template = textOrNull(definition.uriTemplate);
  const uri = template ?? String(definition.uri);
  const parsed = template === null ? undefined : parseUriTemplate(template);
  const mimeType = textOrNull(definition.mimeType);
  const [text, file] = [textOrNull(definition.text), textOrNull(definition.file)];
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
    listing: createEntry(template === null ? "resources" : "resourceTemplates", {
      [template === null ? "uri" : "uriTemplate"]: uri,
      name: textOrNull(name) ?? item.declaration.name,
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
      const part = { uri: asked, ...(mimeType !== null && { mimeType }) };
      if (text !== null) return { contents: [{ ...part, text }], isStatic: true };
      if (file !== null) return { contents: [readFile(owner.root, file, part)], isStatic: true };
      if (handler === undefined) throw new Error("The resource has no content.");
      const returned = await runHandler(use, handler, { ...match(asked), uri: asked });
      return { contents: readContents(returned, part, use.leaveOut) };
    },
  };
}

type Part = Pick<ResourceContents, "uri" | "mimeType">;

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
  const content = Buffer.from(read.bytes);
  const isText = !binaryType.test(part.mimeType ?? "") && !content.includes(0) && isUtf8(content);
  return { ...part, ...(isText ? { text: content.toString() } : { blob: content.toString("base64") }) };
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
