import { describeType, isRecord } from "../data/parse-json.ts";
import type { DefinedKind } from "../kinds.ts";
import { createProblem, listOf, type Path, type Problem } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { schemaOf } from "./definition-schema.ts";
import { toInputSchema } from "./parameters.ts";
import { type AnySchema, describeIssues, type Fault, parseShape, partsOf } from "./shape-faults.ts";
import { type DefinitionShape, marksOf, shapes } from "./shapes.ts";

const problemCode = {
  server: "InvalidServerDefinition",
  tool: "InvalidToolDefinition",
  toolset: "InvalidToolsetDefinition",
  prompt: "InvalidPromptDefinition",
  resource: "InvalidResourceDefinition",
} as const;

const quoteKeys = (keys: readonly string[]) => keys.map((key) => `\`${key}\``);

function chooseServerShape(definition: Record<string, unknown>): DefinitionShape | Fault {
  const has = (key: string) => definition[key] !== undefined;
  const candidates = (["serverDocument", "composedServer", "subprocessServer"] as const).map((shape) => ({
    shape,
    keys: marksOf(shape).filter((key) => has(key) && !(has("kind") && key === "tools")),
  }));
  const [only, ...others] = candidates.filter(({ keys }) => keys.length > 0);
  if (only !== undefined && others.length === 0) return only.shape;
  if (only !== undefined) {
    const keys = candidates.flatMap((one) => quoteKeys(one.keys)).join(", ");
    return { reason: `it combines several kinds of servers (${keys})`, path: [] };
  }
  if (has("url")) {
    const hint = "Use `command`, `script` or `package`. Users add remote servers to their own config.";
    return { reason: "packs cannot define remote servers (`url`)", path: ["url"], hint };
  }
  const reason = "none of the keys that define a server is present";
  const hint =
    "Add `tools`, `toolsets`, `prompts`, `resources` or `skills` for a composed server, `command`, `script` or `package` for a subprocess server, or `kind` for a document.";
  return { reason, path: [], hint };
}

function chooseShape(kind: DefinedKind, content: unknown): DefinitionShape | Fault {
  if (!isRecord(content) || isFunction(content)) {
    const reason = content === null ? "it is empty" : `expected an object, found ${describeType(content)}`;
    const hint = `Export an object as the default, for example with \`define${kind[0]?.toUpperCase()}${kind.slice(1)}\`. A function can be the \`handler\` of a tool, a prompt or a resource.`;
    return { reason, path: [], hint: isRecord(content) ? hint : undefined };
  }
  if (kind === "server") return chooseServerShape(content);
  if (kind !== "toolset") return kind;
  return content.kind === undefined ? "toolsetList" : "toolsBundle";
}

function* checkKeysTogether(shape: DefinitionShape, definition: Record<string, unknown>): Generator<Fault> {
  const has = (key: string) => definition[key] !== undefined;
  const { one = [], some } = shapes[shape];
  for (const keys of some === undefined ? one : [some]) {
    const [first, second] = keys.filter(has);
    if (first === undefined) {
      const hint =
        shape === "tool" ? "For a tool without arguments, add `inputSchema: { type: object }`." : undefined;
      yield { reason: `${listOf(quoteKeys(keys))} is missing`, path: [], hint };
    } else if (second !== undefined && keys !== some) {
      const reason = `\`${first}\` and \`${second}\` are both present`;
      yield { reason, path: [second], hint: "Keep one of them." };
    }
  }
  if (shape === "subprocessServer" && has("bin") && !has("package")) {
    const hint = "Add `package`, the dependency that has this command.";
    yield { reason: "`bin` is present without `package`", path: ["bin"], hint };
  }
  if (shape === "toolsBundle") {
    const hint = "Move the tools to `entries`, or remove `kind` to list references.";
    for (const key of marksOf("toolsetList").filter(has))
      yield { reason: `it combines a bundle with a list of references (\`${key}\`)`, path: [key], hint };
  }
}

const style = { path: (path: Path) => `\`${path.join(".")}\``, word: (word: string) => `\`${word}\`` };

/** True for the placeholder of a function in a code definition: `{ "$function": name }`. */
export function isFunction(content: Record<string, unknown>): boolean {
  return typeof content.$function === "string" && Object.keys(content).length === 1;
}

/**
 * Checks the content of a definition against the shapes of its kind, and normalizes it: both are absent for content of no shape.
 * Reports every fault as `Invalid…Definition` with a path from the definition's top. Pure.
 */
export function checkDefinition(
  kind: DefinedKind,
  content: unknown,
): { shape?: DefinitionShape; definition: Record<string, unknown> | null; problems: Problem[] } {
  const report = ({ reason, hint, path }: Fault) =>
    createProblem(problemCode[kind], { reason, hint }, { path });
  const shape = chooseShape(kind, content);
  if (typeof shape === "object") return { definition: null, problems: [report(shape)] };
  const definition = content as Record<string, unknown>;
  const { issues = [] } = parseShape(schemaOf(shape), definition).error ?? {};
  const faults = [...describeIssues(issues, definition, style), ...checkKeysTogether(shape, definition)];
  return { shape, definition: normalizeDefinition(shape, definition), problems: faults.map(report) };
}

/** Writes the short `parameters` of a tool as `inputSchema`: the rest of the program reads only that. */
export function normalizeDefinition(
  shape: DefinitionShape,
  definition: Record<string, unknown>,
): Record<string, unknown> {
  return shape === "tool" && definition.inputSchema === undefined && isRecord(definition.parameters)
    ? { ...definition, inputSchema: toInputSchema(definition.parameters) }
    : definition;
}

/** Keys that are neither known nor custom, with the absent known one that each is similar to, from the outside in. */
export function* findMisspelledKeys(
  schema: AnySchema,
  value: unknown,
  path: Path = [],
): Generator<{ key: string; suggestion: string; path: Path }> {
  const { element, valueType, shape } = partsOf(schema);
  for (const [index, entry] of element !== undefined && Array.isArray(value) ? value.entries() : [])
    yield* findMisspelledKeys(element as AnySchema, entry, [...path, index]);
  if (!isRecord(value)) return;
  const isUnknown = (key: string) =>
    shape !== undefined && !Object.hasOwn(shape, key) && !/^(?:x-|\$)/.test(key);
  const absent = Object.keys(shape ?? {}).filter((key) => value[key] === undefined);
  for (const key of Object.keys(value).filter(isUnknown)) {
    const [suggestion] = findNearestNames(key, absent);
    if (suggestion !== undefined) yield { key, suggestion, path: [...path, key] };
  }
  for (const [key, entry] of Object.entries(value)) {
    const inner = valueType ?? (shape !== undefined && Object.hasOwn(shape, key) ? shape[key] : undefined);
    if (inner !== undefined) yield* findMisspelledKeys(inner, entry, [...path, key]);
  }
}
