import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, listOf, type Problem, type ProblemContext, quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { alternativeKeys, isDefinitionKey } from "./definition-keys.ts";
import { type DefinitionShape, definitionShapes } from "./definition-schema.ts";
import {
  describeFault,
  describeMissing,
  formatPath,
  holdsWholeSchema,
  suggestRename,
} from "./describe-fault.ts";
import { describeWritten } from "./pointer.ts";
import { findContentFaults } from "./prompt-messages.ts";
import type { Fault } from "./shape-faults.ts";
import { findMisnamedKey } from "./suggest-key.ts";
import { explainInvalidUri, parseUriTemplate } from "./uri-template.ts";

type Written = Readonly<Record<string, unknown>>;

/** `type/subtype` with optional parameters. */
const mediaType =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s{0,9};\s{0,9}[\w!#$&^.+-]{1,127}=(?:[^\s;"]+|"[^"]*"))*$/;

/** A date and time with a time zone, which MCP's schemas require. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Limit on the reported names in one `complete`. */
const maximumReported = 100;

/** Finds names in `complete` that the prompt or the template does not have. The shape reports values of other types. */
export function* findCompleteFaults(complete: unknown, names: readonly unknown[]): Generator<Fault> {
  const known = new Set(names.filter((name) => typeof name === "string"));
  const unknown = Object.keys(isRecord(complete) ? complete : {}).filter((name) => !known.has(name));
  for (const name of unknown.slice(0, maximumReported)) {
    const [nearest] = findNearestNames(name, [...known]);
    const reason = `\`complete\` has ${quote(name)}, which is neither an argument nor a variable`;
    const hint = nearest === undefined ? undefined : `Did you mean ${quote(nearest)}?`;
    yield { reason, path: ["complete", name], hint };
  }
}

/** Checks the values of a resource's keys beyond their types. */
export function* findResourceFaults(definition: Written): Generator<Fault> {
  const { uri, uriTemplate, mimeType, annotations, complete } = definition;
  if (typeof uri === "string" && uri.trim() !== "") {
    const fault = explainInvalidUri(uri);
    const hint = /[{}]/.test(uri) ? "Did you mean `uriTemplate`?" : undefined;
    if (fault !== undefined) yield { reason: `\`uri\` ${fault}`, path: ["uri"], hint };
  }
  const isTemplate = typeof uriTemplate === "string" && uriTemplate.trim() !== "";
  const template = isTemplate ? parseUriTemplate(uriTemplate) : { variables: [] };
  if ("fault" in template) yield { reason: `\`uriTemplate\` ${template.fault}`, path: ["uriTemplate"] };
  else yield* findCompleteFaults(complete, template.variables);
  if (typeof mimeType === "string" && mimeType.trim() !== "" && !mediaType.test(mimeType)) {
    const hint = "Write a type and a subtype, such as `text/markdown`.";
    yield { reason: "`mimeType` is not a media type", path: ["mimeType"], hint };
  }
  const { lastModified } = isRecord(annotations) ? annotations : {};
  const isDate = (text: string) => dateTime.test(text) && !Number.isNaN(Date.parse(text));
  if (typeof lastModified === "string" && !isDate(lastModified)) {
    const path = ["annotations", "lastModified"];
    const hint = "Write a date and a time with a time zone, such as `2026-01-31T12:00:00Z`.";
    yield { reason: `${formatPath(path)} is not a date and time`, path, hint };
  }
}

const problemCode = {
  server: "InvalidServerDefinition",
  tool: "InvalidToolDefinition",
  toolset: "InvalidToolsetDefinition",
  prompt: "InvalidPromptDefinition",
  resource: "InvalidResourceDefinition",
} as const;

const functionHint = {
  server: "Export an object as the default, for example with `defineServer`.",
  tool: "Export an object as the default, for example with `defineTool`, and make the function its `handler`.",
  toolset: "Export an object as the default, for example with `defineToolset`.",
  prompt:
    "Export an object as the default, for example with `definePrompt`, and make the function its `handler`.",
  resource:
    "Export an object as the default, for example with `defineResource`, and make the function its `handler`.",
} as const;

const composedKeys = ["tools", "toolsets", "prompts", "resources"];
const subprocessKeys = ["command", "script", "package"];

/** A fault for keys that only configs of MCP clients have, which people paste into definitions. */
function findClientKey(definition: Record<string, unknown>): Fault | undefined {
  if (isRecord(definition.mcpServers)) {
    const [label] = Object.keys(definition.mcpServers);
    const above = label === undefined ? "`mcpServers`" : `\`mcpServers\` and ${quote(label)}`;
    const hint = `Write \`command\`, \`args\` and \`env\` of one server at the top, without ${above}. Define each server as an item of its own.`;
    return { reason: "`mcpServers` is a key of client configs", path: ["mcpServers"], hint };
  }
  if (definition.url === undefined) return undefined;
  const hint = "Use `command`, `script` or `package`. Users add remote servers to their own config.";
  return { reason: "packs cannot define remote servers (`url`)", path: ["url"], hint };
}

/** The shape that a definition's keys indicate; a fault if they indicate none or several. */
function chooseShape(kind: Kind, definition: Record<string, unknown>): DefinitionShape | Fault {
  if (kind === "tool" || kind === "prompt" || kind === "resource") return kind;
  const { kind: documentKind } = definition;
  if (kind === "toolset") return documentKind === undefined ? "toolsetList" : "toolsBundle";
  const has = (key: string) => definition[key] !== undefined;
  if (documentKind !== undefined) {
    const foreign = ["toolsets", "prompts", "resources", ...subprocessKeys]
      .filter(has)
      .map((key) => `\`${key}\``);
    if (foreign.length === 0) return "serverDocument";
    return { reason: `it combines a document with another kind of server (${foreign.join(", ")})`, path: [] };
  }
  const composed = composedKeys.filter(has);
  const subprocess = subprocessKeys.filter(has);
  if (composed.length > 0 && subprocess.length > 0) {
    const keys = [...composed, ...subprocess].map((key) => `\`${key}\``).join(", ");
    return { reason: `it combines a composed server with a subprocess server (${keys})`, path: [] };
  }
  if (composed.length > 0) return "composedServer";
  if (subprocess.length > 0) return "subprocessServer";
  const foreign = findClientKey(definition);
  if (foreign !== undefined) return foreign;
  const reason = "none of the keys that define a server is present";
  const unknown = Object.keys(definition).filter((key) => !isDefinitionKey("server", key) && key[0] !== "$");
  const misnamed = findMisnamedKey([...composedKeys, ...subprocessKeys], unknown);
  if (misnamed !== undefined) {
    const hint = suggestRename(misnamed);
    return { reason, path: [misnamed.written], hint };
  }
  const hint =
    "Add `tools`, `toolsets`, `prompts` or `resources` for a composed server, `command`, `script` or `package` for a subprocess server, or `kind` for a document.";
  return { reason, path: [], hint };
}

/** Checks that one key of a subprocess server names its program. */
function* checkProgram(definition: Readonly<Record<string, unknown>>): Generator<Fault> {
  const [first, second] = subprocessKeys.filter((key) => definition[key] !== undefined);
  if (second !== undefined) {
    const hint =
      "Keep `script` to run a module with the host's Node, `package` to run a dependency, or `command` to run a program.";
    yield { reason: `\`${first}\` and \`${second}\` are both present`, path: [second], hint };
  }
  const { package: name, bin } = definition;
  if (typeof name === "string" && !isPackageName(name))
    yield { reason: "`package` is not an npm name", path: ["package"], hint: "Write it without a version." };
  if (bin !== undefined && name === undefined) {
    const hint = "Add `package`, the dependency that has this command.";
    yield { reason: "`bin` is present without `package`", path: ["bin"], hint };
  }
}

function namesOfArguments({ arguments: list }: Readonly<Record<string, unknown>>): unknown[] {
  return Array.isArray(list) ? list.map((one: unknown) => (isRecord(one) ? one.name : undefined)) : [];
}

/** Checks the rules that involve several keys, which the schema does not express. */
function* checkKeysTogether(shape: DefinitionShape, definition: Record<string, unknown>): Generator<Fault> {
  const has = (key: string) => definition[key] !== undefined;
  for (const keys of alternativeKeys[shape] ?? []) {
    const [first, second] = keys.filter(has);
    if (first === undefined) {
      const isTool = shape === "tool";
      const names = isTool
        ? "`inputSchema` or its short form `parameters`"
        : listOf(keys.map((key) => `\`${key}\``));
      const hint = isTool ? "For a tool without arguments, add `inputSchema: { type: object }`." : undefined;
      yield describeMissing(shape, definition, keys, { reason: `${names} is missing`, path: [], hint });
    } else if (second !== undefined && shape !== "toolsetList") {
      const reason = `\`${first}\` and \`${second}\` are both present`;
      yield { reason, path: [second], hint: "Keep one of them." };
    }
  }
  if (shape === "subprocessServer") yield* checkProgram(definition);
  if (shape === "toolsBundle") {
    const hint = "Move the tools to `entries`, or remove `kind` to list references.";
    for (const key of ["tools", "toolsets"].filter(has))
      yield { reason: `it combines a bundle with a list of references (\`${key}\`)`, path: [key], hint };
  }
  if (shape === "resource") yield* findResourceFaults(definition);
  if (shape === "prompt") yield* findCompleteFaults(definition.complete, namesOfArguments(definition));
}

/** Faults of single keys: those of the shape, and those that need more specific messages. */
function findShapeFaults(shape: DefinitionShape, definition: Record<string, unknown>): Fault[] {
  const { error } = definitionShapes[shape].safeParse(definition);
  const contentFaults = shape === "prompt" ? findContentFaults(definition.content) : [];
  if (error === undefined) return contentFaults;
  const wholeSchema = shape === "tool" && holdsWholeSchema(definition);
  const issues = error.issues.filter(
    ({ path: [key, below] }) =>
      !(wholeSchema && key === "parameters" && below !== undefined) &&
      !(shape === "prompt" && key === "content"),
  );
  const faults = issues.map((issue) => describeFault(issue, shape, definition));
  if (wholeSchema) {
    const hint = "Move it to `inputSchema`; the short form `parameters` maps names to schemas.";
    faults.push({ reason: "`parameters` contains a whole JSON Schema", path: ["parameters"], hint });
  }
  return [...faults, ...contentFaults];
}

/** True for the placeholder of a function in a code definition: `{ "$function": name }`. */
export function isFunction(content: Record<string, unknown>): boolean {
  return typeof content.$function === "string" && Object.keys(content).length === 1;
}

/** A checked definition with its shape: servers and toolsets have several. */
export type CheckedDefinition =
  | { shape: DefinitionShape; definition: Record<string, unknown>; problems: Problem[] }
  | { shape: undefined; definition: undefined; problems: Problem[] };

/**
 * Checks the content of a definition against the shapes of its kind. Reports every fault as
 * `Invalid…Definition` with a path from the definition's top. Pure.
 */
export function checkDefinition(kind: Kind, content: unknown, context: ProblemContext): CheckedDefinition {
  const report = ({ reason, hint, path }: Fault) =>
    createProblem(problemCode[kind], { reason, hint }, { path }, context);
  if (!isRecord(content)) {
    const reason = content === null ? "it is empty" : `expected an object, found ${describeWritten(content)}`;
    const fault = { reason, path: [] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  if (isFunction(content)) {
    const fault = { reason: "expected an object, found a function", path: [], hint: functionHint[kind] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  const shape = chooseShape(kind, content);
  if (typeof shape === "object")
    return { shape: undefined, definition: undefined, problems: [report(shape)] };
  const faults = [...findShapeFaults(shape, content), ...checkKeysTogether(shape, content)];
  return { shape, definition: content, problems: faults.map(report) };
}
