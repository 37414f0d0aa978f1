import { isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext, quote } from "../problems/index.ts";
import { describeFault, describeMissing, type Fault, holdsWholeSchema } from "./describe-fault.ts";
import {
  composedServer,
  type DefinitionShape,
  knownKeys,
  prompt,
  serverDocument,
  subprocessServer,
  tool,
  toolsBundle,
  toolsetList,
} from "./generated/definition-validators.js";
import { describeWritten } from "./pointer.ts";
import { findContentFaults } from "./prompt-messages.ts";
import { findMisnamedKey } from "./suggest-key.ts";

const problemCode = {
  server: "InvalidServerDefinition",
  tool: "InvalidToolDefinition",
  toolset: "InvalidToolsetDefinition",
  prompt: "InvalidPromptDefinition",
} as const;

const functionHint = {
  server: "The default export must be an object, as `defineServer` returns it.",
  tool: "The default export must be an object, as `defineTool` returns it; the function may be its `handler`.",
  toolset: "The default export must be an object, as `defineToolset` returns it.",
  prompt:
    "The default export must be an object, as `definePrompt` returns it; the function may be its `handler`.",
} as const;

const validators = {
  tool,
  composedServer,
  subprocessServer,
  serverDocument,
  toolsetList,
  toolsBundle,
  prompt,
};

const composedKeys = ["tools", "toolsets", "prompts"];
const subprocessKeys = ["command", "script"];

/** Keys that no shape of a server has. */
function findUnknownServerKeys(definition: Readonly<Record<string, unknown>>): string[] {
  const known = new Set([
    ...knownKeys.composedServer,
    ...knownKeys.subprocessServer,
    ...knownKeys.serverDocument,
  ]);
  return Object.keys(definition).filter((key) => !known.has(key) && !/^(?:x-|\$)/.test(key));
}

/** The shape that a definition means to have; a fault where it is none of them, or more than one. */
function chooseShape(kind: Kind, definition: Record<string, unknown>): DefinitionShape | Fault {
  if (kind === "tool" || kind === "prompt") return kind;
  const { kind: documentKind } = definition;
  if (kind === "toolset") return documentKind === undefined ? "toolsetList" : "toolsBundle";
  const has = (key: string) => definition[key] !== undefined;
  if (documentKind !== undefined) {
    const foreign = ["toolsets", "prompts", ...subprocessKeys].filter(has).map((key) => `\`${key}\``);
    if (foreign.length === 0) return "serverDocument";
    return { reason: `it mixes a document with another kind of server (${foreign.join(", ")})`, path: [] };
  }
  const composed = composedKeys.filter(has);
  const subprocess = subprocessKeys.filter(has);
  if (composed.length > 0 && subprocess.length > 0) {
    const keys = [...composed, ...subprocess].map((key) => `\`${key}\``).join(", ");
    return { reason: `it mixes a composed server with a subprocess server (${keys})`, path: [] };
  }
  if (composed.length > 0) return "composedServer";
  if (subprocess.length > 0) return "subprocessServer";
  const reason = "it has no shape of a server";
  const misnamed = findMisnamedKey([...composedKeys, ...subprocessKeys], findUnknownServerKeys(definition));
  if (misnamed !== undefined) {
    const hint = `Did you mean \`${misnamed.key}\` where it says ${quote(misnamed.written, 40)}?`;
    return { reason, path: [misnamed.written], hint };
  }
  const hint =
    "A composed server lists `tools`, `toolsets` or `prompts`; a subprocess server has `command` or `script`; a document has `kind`.";
  return { reason, path: [], hint };
}

/** Rules between keys, which a schema of single keys does not say. */
function* checkKeysTogether(shape: DefinitionShape, definition: Record<string, unknown>): Generator<Fault> {
  const has = (key: string) => definition[key] !== undefined;
  const lacks = (missing: readonly string[], reason: string, hint?: string) =>
    describeMissing(shape, definition, missing, { reason, path: [], hint });
  if (shape === "tool") {
    if (has("inputSchema") && has("parameters")) {
      yield {
        reason: "`inputSchema` and `parameters` say the same twice",
        path: ["parameters"],
        hint: "Keep one of them.",
      };
    } else if (!has("inputSchema") && !has("parameters")) {
      const hint = "A tool without arguments says so: `inputSchema: { type: object }`.";
      const reason = "`inputSchema` is missing, and so is its short form `parameters`";
      yield lacks(["inputSchema", "parameters"], reason, hint);
    }
  }
  if (shape === "subprocessServer" && has("command") && has("script")) {
    const hint = "`script` is run with the host's Node; anything else needs `command`.";
    yield { reason: "`command` and `script` are both there", path: ["script"], hint };
  }
  if (shape === "toolsetList" && !has("tools") && !has("toolsets")) {
    yield lacks(["tools", "toolsets"], "it has neither `tools` nor `toolsets`");
  }
  if (shape === "toolsBundle") {
    const hint = "A bundle has `entries`; a list of references has no `kind`.";
    for (const key of ["tools", "toolsets"].filter(has))
      yield { reason: `it mixes a bundle with a list of references (\`${key}\`)`, path: [key], hint };
  }
  if (shape === "prompt" && has("content") === has("handler")) {
    yield has("content")
      ? { reason: "`content` and `handler` are both there", path: ["handler"], hint: "Keep one of them." }
      : lacks(["content", "handler"], "`content` is missing, and so is `handler`");
  }
}

/** Faults of single keys: those that a validator finds, the more intricate ones in words of their own. */
function findShapeFaults(shape: DefinitionShape, definition: Record<string, unknown>): Fault[] {
  const validate = validators[shape];
  const contentFaults = shape === "prompt" ? findContentFaults(definition.content) : [];
  if (validate(definition)) return contentFaults;
  const wholeSchema = shape === "tool" && holdsWholeSchema(definition);
  // What lies inside a choice is said once, by the choice.
  const errors = (validate.errors ?? []).filter(
    ({ schemaPath, instancePath }) =>
      !/\/anyOf\//.test(schemaPath) &&
      !(wholeSchema && instancePath.startsWith("/parameters/")) &&
      !(shape === "prompt" && /^\/content(?:\/|$)/.test(instancePath)),
  );
  const faults = errors.map((error) => describeFault(error, shape, definition));
  if (wholeSchema) {
    const hint = "Write it under `inputSchema`; `parameters` is the short form, a map from names to schemas.";
    faults.push({ reason: "`parameters` holds a whole JSON Schema", path: ["parameters"], hint });
  }
  return [...faults, ...contentFaults];
}

/** True for the mark that stands for a function of a definition that is code. */
export function isFunction(content: Record<string, unknown>): boolean {
  return typeof content.$function === "string" && Object.keys(content).length === 1;
}

/** The shape of a definition: what its kind allows, and for servers and toolsets which of several. */
export type CheckedDefinition =
  | { shape: DefinitionShape; definition: Record<string, unknown>; problems: Problem[] }
  | { shape: undefined; definition: undefined; problems: Problem[] };

/**
 * Checks the content of a definition against the shape of its kind. All faults are reported, as
 * `Invalid…Definition` with a path from the definition's top. Pure.
 */
export function checkDefinition(kind: Kind, content: unknown, context: ProblemContext): CheckedDefinition {
  const report = ({ reason, hint, path }: Fault) =>
    createProblem(problemCode[kind], { reason, hint }, { path }, context);
  if (!isRecord(content)) {
    const reason = content === null ? "it is empty" : `it holds ${describeWritten(content)}, not a map`;
    const fault = { reason, path: [] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  if (isFunction(content)) {
    const fault = { reason: "it is a function, not an object", path: [], hint: functionHint[kind] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  const shape = chooseShape(kind, content);
  if (typeof shape === "object")
    return { shape: undefined, definition: undefined, problems: [report(shape)] };
  const faults = [...findShapeFaults(shape, content), ...checkKeysTogether(shape, content)];
  return { shape, definition: content, problems: faults.map(report) };
}
