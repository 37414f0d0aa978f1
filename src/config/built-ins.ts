import { describeType, isRecord } from "../data/parse-json.ts";
import { parseHandler } from "../extension-schema/handlers.ts";
import { checkDefinition } from "../extension-schema/index.ts";
import { normalizeDefinition } from "../extension-schema/normalize-definition.ts";
import { type Path, quote } from "../problems/index.ts";
import type { ConfigFault } from "./config-file.ts";
import type { BuiltInDefinition } from "./session-config.ts";
import { formatPath } from "./shape-faults.ts";

const codeKeys = ["handler", "initialize"] as const;

/** What is wrong with a handler of the user's own; `undefined` where it may be one. */
function whyInvalidCode(code: unknown, mayBeFunction: boolean): string | undefined {
  if (typeof code === "function" && mayBeFunction) return undefined;
  if (typeof code !== "string") {
    const forms = mayBeFunction ? "./module.js#export or a function" : "./module.js#export";
    return `must be ${forms}, but is ${describeType(code)}`;
  }
  const place = parseHandler(code);
  if ("fault" in place) return `is ${quote(code)}, which names no module: ${place.fault}`;
  if (place.module === ".") return `is ${quote(code)}, which names a folder, not a module`;
  return place.module === ".." || place.module.startsWith("../")
    ? `is ${quote(code)}, which leaves the project`
    : undefined;
}

/** The definition as `checkDefinition` knows it: functions are marks, and what is checked here is left to pass. */
function withMarks(definition: Record<string, unknown>): Record<string, unknown> {
  const marks = codeKeys
    .filter((key) => definition[key] !== undefined)
    .map((key) => [key, { $function: key }] as const);
  return { ...definition, ...Object.fromEntries(marks) };
}

function* findDefinitionFaults(
  definition: unknown,
  path: Path,
  mayBeFunction: boolean,
): Generator<ConfigFault> {
  const at = `\`${formatPath(path)}\``;
  const checked = checkDefinition(
    "tool",
    isRecord(definition) ? withMarks(definition) : definition,
    "operation",
  );
  for (const { severity, message, hint, path: inside = [] } of checked.problems) {
    if (severity !== "error") continue;
    yield { reason: `${at}: ${message.replace(/\.$/, "")}`, path: [...path, ...inside], hint };
  }
  if (!isRecord(definition)) return;
  for (const key of codeKeys) {
    if (definition[key] === undefined) continue;
    const why = whyInvalidCode(definition[key], mayBeFunction);
    if (why !== undefined) yield { reason: `\`${formatPath([...path, key])}\` ${why}`, path: [...path, key] };
  }
  const { name } = definition;
  if (typeof name === "string" && name.trim() !== "" && !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const hint = "It is 1 to 64 of A-Z, a-z, 0-9, _ and -.";
    yield { reason: `${at}: ${quote(name)} is no name that models can call`, path: [...path, "name"], hint };
  }
}

/** Whether functions may stand where a file names modules: in a config that was handed over as an object. */
interface BuiltInRules {
  mayBeFunction: boolean;
}

/** Everything that is wrong with the user's own tools; that they are a list is seen to elsewhere. */
export function* findBuiltInFaults(list: unknown, { mayBeFunction }: BuiltInRules): Generator<ConfigFault> {
  for (const [index, definition] of Array.isArray(list) ? list.entries() : []) {
    yield* findDefinitionFaults(definition, ["builtIns", index], mayBeFunction);
  }
}

/** Tools without fault in the form that packs' definitions are brought into. */
export function readBuiltIns(list: readonly Record<string, unknown>[]): BuiltInDefinition[] {
  return list.map((definition) => normalizeDefinition("tool", definition));
}
