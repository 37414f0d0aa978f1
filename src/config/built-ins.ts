import { describeType, isRecord } from "../data/parse-json.ts";
import { checkDefinition, normalizeDefinition } from "../extension-schema/index.ts";
import { parseHandler } from "../extension-schema/references.ts";
import { type Path, quote } from "../problems/index.ts";
import { type ConfigFault, configFailure, describeConfigFaults } from "./config-file.ts";
import type { BuiltInDefinition } from "./session-config.ts";
import { formatPath } from "./shape-faults.ts";

const codeKeys = ["handler", "initialize"] as const;

/** The reason why a user's handler is not valid; `undefined` if it is. Continues after the name of the key. */
function explainInvalidCode(code: unknown, mayBeFunction: boolean): string | undefined {
  if (typeof code === "function" && mayBeFunction) return undefined;
  if (typeof code !== "string") {
    const forms = mayBeFunction ? "./module.js#export or a function" : "./module.js#export";
    return `must be ${forms}, but it is ${describeType(code)}`;
  }
  const place = parseHandler(code);
  if ("fault" in place) return `is ${quote(code)}, which is not a module path: ${place.fault}`;
  if (place.module === ".") return `is ${quote(code)}, which names a folder, not a module`;
  return place.module === ".." || place.module.startsWith("../")
    ? `is ${quote(code)}, which is outside the project`
    : undefined;
}

function* findDefinitionFaults(
  definition: unknown,
  path: Path,
  mayBeFunction: boolean,
): Generator<ConfigFault> {
  const at = `\`${formatPath(path)}\``;
  const written = isRecord(definition) ? definition : {};
  const present = codeKeys.filter((key) => written[key] !== undefined);
  // Handlers are checked below; `checkDefinition` gets the placeholders that it accepts.
  const marks = Object.fromEntries(present.map((key) => [key, { $function: key }]));
  const content = written === definition ? { ...written, ...marks } : definition;
  const { problems } = checkDefinition("tool", content, "operation");
  for (const { code, args, hint, path: inside = [] } of problems) {
    if (code !== "InvalidToolDefinition") continue;
    yield { reason: `${at} is not valid: ${args.reason}`, path: [...path, ...inside], hint };
  }
  for (const key of present) {
    const reason = explainInvalidCode(written[key], mayBeFunction);
    if (reason !== undefined)
      yield { reason: `\`${formatPath([...path, key])}\` ${reason}`, path: [...path, key] };
  }
  const { name } = written;
  if (typeof name === "string" && name.trim() !== "" && !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const hint = "Use 1 to 64 characters from A-Z, a-z, 0-9, _ and -.";
    yield { reason: `${at} has the invalid name ${quote(name)}`, path: [...path, "name"], hint };
  }
}

/** Finds every fault in the user's tools. Handlers may be functions in configs that are passed as objects. */
export function* findBuiltInFaults(list: unknown, mayBeFunction: boolean): Generator<ConfigFault> {
  for (const [index, definition] of Array.isArray(list) ? list.entries() : [])
    yield* findDefinitionFaults(definition, ["builtIns", index], mayBeFunction);
}

/** Normalizes valid tools like packs' definitions. */
export const readBuiltIns = (list: readonly Record<string, unknown>[]): BuiltInDefinition[] =>
  list.map((definition) => normalizeDefinition("tool", definition));

/** Checks and normalizes the built-ins that a caller defines. Throws `TrailblazeError` `InvalidConfig` for the first error. */
export async function checkBuiltIns(definitions: readonly BuiltInDefinition[]): Promise<BuiltInDefinition[]> {
  const faults = [...findBuiltInFaults(definitions, true)];
  const [first, ...others] = await describeConfigFaults(faults, undefined);
  if (first !== undefined) throw configFailure([first, ...others]);
  return readBuiltIns(definitions);
}
