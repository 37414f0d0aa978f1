import { isRecord } from "../data/parse-json.ts";
import type { DefinedKind } from "../kinds.ts";
import { createProblem, listOf, type Path, type Problem, type ProblemContext } from "../problems/index.ts";
import { alternativeKeys } from "./definition-keys.ts";
import { type DefinitionShape, definitionShapes } from "./definition-schema.ts";
import { toInputSchema } from "./parameters.ts";
import { describeWritten } from "./pointer.ts";
import { describeIssues, type Fault, parseShape } from "./shape-faults.ts";

type Written = Readonly<Record<string, unknown>>;

const formatPath = (path: Path) => `\`${path.join(".")}\``;

const problemCode = {
  server: "InvalidServerDefinition",
  tool: "InvalidToolDefinition",
  toolset: "InvalidToolsetDefinition",
  prompt: "InvalidPromptDefinition",
  resource: "InvalidResourceDefinition",
} as const;

const composedKeys = ["tools", "toolsets", "prompts", "resources", "skills"];
const subprocessKeys = ["command", "script", "package"];

const listKeys = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(", ");

/** The shape that the keys of a server indicate; a fault if they indicate none or several. */
function chooseServerShape(definition: Written): DefinitionShape | Fault {
  const has = (key: string) => definition[key] !== undefined;
  const composed = composedKeys.filter(has);
  const subprocess = subprocessKeys.filter(has);
  const isDocument = definition.kind !== undefined;
  const foreign = isDocument ? [...composed.filter((key) => key !== "tools"), ...subprocess] : subprocess;
  if (foreign.length > 0 && (isDocument || composed.length > 0)) {
    const keys = listKeys(isDocument ? ["kind", ...foreign] : [...composed, ...foreign]);
    return { reason: `it combines several kinds of servers (${keys})`, path: [] };
  }
  if (isDocument) return "serverDocument";
  if (composed.length > 0) return "composedServer";
  if (subprocess.length > 0) return "subprocessServer";
  if (has("url")) {
    const hint = "Use `command`, `script` or `package`. Users add remote servers to their own config.";
    return { reason: "packs cannot define remote servers (`url`)", path: ["url"], hint };
  }
  const reason = "none of the keys that define a server is present";
  const hint =
    "Add `tools`, `toolsets`, `prompts`, `resources` or `skills` for a composed server, `command`, `script` or `package` for a subprocess server, or `kind` for a document.";
  return { reason, path: [], hint };
}

/** The shape of a definition; a fault if it has none. */
function chooseShape(kind: DefinedKind, content: unknown): DefinitionShape | Fault {
  if (!isRecord(content)) {
    const reason = content === null ? "it is empty" : `expected an object, found ${describeWritten(content)}`;
    return { reason, path: [] };
  }
  if (isFunction(content)) {
    const hint = `Export an object as the default, for example with \`define${kind[0]?.toUpperCase()}${kind.slice(1)}\`. A function can be the \`handler\` of a tool, a prompt or a resource.`;
    return { reason: "expected an object, found a function", path: [], hint };
  }
  if (kind === "server") return chooseServerShape(content);
  if (kind !== "toolset") return kind;
  return content.kind === undefined ? "toolsetList" : "toolsBundle";
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
  if (bin !== undefined && name === undefined) {
    const hint = "Add `package`, the dependency that has this command.";
    yield { reason: "`bin` is present without `package`", path: ["bin"], hint };
  }
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
      yield { reason: `${names} is missing`, path: [], hint };
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
}

/** Faults of single keys. */
function findShapeFaults(shape: DefinitionShape, definition: Record<string, unknown>): Fault[] {
  const { error } = parseShape(definitionShapes[shape], definition);
  if (error === undefined) return [];
  const style = { path: formatPath, word: (word: string) => `\`${word}\`` };
  return describeIssues(error.issues, definition, style);
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
export function checkDefinition(
  kind: DefinedKind,
  content: unknown,
  context: ProblemContext,
): CheckedDefinition {
  const report = ({ reason, hint, path }: Fault) =>
    createProblem(problemCode[kind], { reason, hint }, { path }, context);
  const shape = chooseShape(kind, content);
  if (typeof shape === "object")
    return { shape: undefined, definition: undefined, problems: [report(shape)] };
  const definition = content as Record<string, unknown>;
  const faults = [...findShapeFaults(shape, definition), ...checkKeysTogether(shape, definition)];
  return { shape, definition, problems: faults.map(report) };
}

/** Normalizes a checked definition: the rest of the program reads only `inputSchema`. */
export function normalizeDefinition(
  shape: DefinitionShape,
  definition: Record<string, unknown>,
): Record<string, unknown> {
  if (shape !== "tool" || definition.inputSchema !== undefined || !isRecord(definition.parameters))
    return definition;
  return { ...definition, inputSchema: toInputSchema(definition.parameters) };
}
