import { describeType, isRecord } from "../data/parse-json.ts";
import type { Kind } from "../kinds.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
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
import { readPointer, valueAt } from "./pointer.ts";
import type { ValidatorError } from "./validator.ts";

type Path = readonly (string | number)[];

/** What is wrong with a definition's shape, and where from the definition's top. */
interface Fault {
  reason: string;
  path: Path;
  hint?: string | undefined;
}

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
  const hint =
    "A composed server lists `tools`, `toolsets` or `prompts`; a subprocess server has `command` or `script`; a document has `kind`.";
  return { reason: "it has no shape of a server", path: [], hint };
}

const typeWords: Record<string, string> = {
  object: "a map",
  array: "a list",
  string: "a text",
  boolean: "true or false",
  number: "a number",
};

/** Says in plain words what a validator found. */
function describeFault(
  error: ValidatorError,
  definition: Record<string, unknown>,
  known: readonly string[],
): Fault {
  const path = readPointer(error.instancePath, definition);
  const where = path.length === 0 ? "it" : `\`${path.join(".")}\``;
  const found = describeType(valueAt(definition, path));
  switch (error.keyword) {
    case "required": {
      const missing = String(error.params.missingProperty);
      const owner = valueAt(definition, path);
      const unknown = isRecord(owner) ? Object.keys(owner).filter((key) => !known.includes(key)) : [];
      const [misspelt] = path.length === 0 ? findNearestNames(missing, unknown) : [];
      const hint =
        misspelt === undefined ? undefined : `Did you mean "${missing}" where it says "${misspelt}"?`;
      return {
        reason: path.length === 0 ? `\`${missing}\` is missing` : `${where} lacks \`${missing}\``,
        path,
        hint,
      };
    }
    case "type":
      return {
        reason: `${where} must be ${typeWords[String(error.params.type)] ?? error.params.type}, but is ${found}`,
        path,
      };
    case "enum":
      return {
        reason: `${where} must be one of ${(error.params.allowedValues as string[]).join(", ")}`,
        path,
      };
    case "const":
      return { reason: `${where} must be "${error.params.allowedValue}"`, path };
    case "pattern":
      return { reason: `${where} is empty`, path };
    case "anyOf":
      return { reason: `${where} has none of the forms it may have, but is ${found}`, path };
    default:
      return { reason: `${where} ${error.message ?? "does not fit"}`, path };
  }
}

/** Rules between keys, which a schema of single keys does not say. */
function* checkKeysTogether(shape: DefinitionShape, definition: Record<string, unknown>): Generator<Fault> {
  const has = (key: string) => definition[key] !== undefined;
  if (shape === "tool") {
    if (has("inputSchema") && has("parameters")) {
      yield {
        reason: "`inputSchema` and `parameters` say the same twice",
        path: ["parameters"],
        hint: "Keep one of them.",
      };
    } else if (!has("inputSchema") && !has("parameters")) {
      const hint = "A tool without arguments says so: `inputSchema: { type: object }`.";
      yield { reason: "`inputSchema` is missing, and so is its short form `parameters`", path: [], hint };
    }
  }
  if (shape === "subprocessServer" && has("command") && has("script")) {
    const hint = "`script` is run with the host's Node; anything else needs `command`.";
    yield { reason: "`command` and `script` are both there", path: ["script"], hint };
  }
  if (shape === "toolsetList" && !has("tools") && !has("toolsets")) {
    yield { reason: "it has neither `tools` nor `toolsets`", path: [] };
  }
  if (shape === "prompt" && has("content") === has("handler")) {
    const reason = has("content")
      ? "`content` and `handler` are both there"
      : "`content` is missing, and so is `handler`";
    yield { reason, path: has("content") ? ["handler"] : [] };
  }
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
    const fault = { reason: `it holds ${describeType(content)}, not a map`, path: [] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  if (isFunction(content)) {
    const fault = { reason: "it is a function, not an object", path: [], hint: functionHint[kind] };
    return { shape: undefined, definition: undefined, problems: [report(fault)] };
  }
  const shape = chooseShape(kind, content);
  if (typeof shape === "object")
    return { shape: undefined, definition: undefined, problems: [report(shape)] };
  const validate = validators[shape];
  const faults: Fault[] = [];
  if (!validate(content)) {
    // What lies inside a choice is said once, by the choice.
    const errors = (validate.errors ?? []).filter(({ schemaPath }) => !/\/anyOf\//.test(schemaPath));
    faults.push(...errors.map((error) => describeFault(error, content, knownKeys[shape])));
  }
  faults.push(...checkKeysTogether(shape, content));
  return { shape, definition: content, problems: faults.map(report) };
}
