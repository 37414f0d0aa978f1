import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { findMisnamedKeyAt } from "./definition-keys.ts";
import type { DefinitionShape } from "./generated/definition-keys.js";
import { describeWritten, readPointer, typeWords, valueAt } from "./pointer.ts";
import type { ValidatorError } from "./validator.ts";

/** A fault in the shape of a definition, with its path from the definition's top. */
export interface Fault {
  /** Continues a message after a colon, without a period. */
  reason: string;
  path: Path;
  hint?: string | undefined;
}

/** A path as people write it. A pack's own keys may make it long. */
export const formatPath = (path: Path) => `\`${path.join(".")}\``;

export const suggestRename = ({ key, written }: { key: string; written: string }): string =>
  `Did you mean \`${key}\` instead of ${quote(written, 40)}?`;

/**
 * A fault for a missing key. If an unknown key probably stands for it, the fault points there and suggests the rename.
 * One of the keys in `missing` is required.
 */
export function describeMissing(
  shape: DefinitionShape,
  definition: Readonly<Record<string, unknown>>,
  missing: readonly string[],
  { reason, path, hint }: Fault,
): Fault {
  const misnamed = findMisnamedKeyAt(shape, definition, path, missing);
  if (misnamed === undefined) return { reason, path, hint };
  return { reason, path: [...path, misnamed.written], hint: suggestRename(misnamed) };
}

/** The correct form of a value with the wrong type, for mistakes that are common. */
function hintForType(path: Path, value: unknown): string | undefined {
  const [top, name] = path;
  if (top === "parameters" && path.length === 1)
    return "Write an object of schemas by name: `parameters: { city: { type: string } }`.";
  if (top === "parameters" && path.length === 2) {
    const type = typeof value === "string" && /^[a-z]+$/.test(value) ? value : "string";
    return `Write \`${name}: { type: ${type} }\`.`;
  }
  if (top === "parameters" && path.at(-1) === "required") return "Write `required: true`, or remove it.";
  if (top === "options") return "Write an object of options by name: `maxResults: { default: 50 }`.";
  if (top === "arguments" && path.length <= 2)
    return "Write an array of arguments: `arguments: [{ name: city, required: true }]`.";
  if (["tools", "toolsets", "prompts", "resources"].includes(String(top)) && path.length === 1)
    return typeof value === "string" ? `Write \`${top}: [${value}]\`.` : "Write an array of references.";
  return undefined;
}

/** Describes a validator's error for people. */
export function describeFault(
  error: ValidatorError,
  shape: DefinitionShape,
  definition: Readonly<Record<string, unknown>>,
): Fault {
  const path = readPointer(error.instancePath, definition);
  const where = path.length === 0 ? "it" : formatPath(path);
  const value = valueAt(definition, path);
  switch (error.keyword) {
    case "required": {
      const missing = String(error.params.missingProperty);
      const reason =
        path.length === 0 ? `\`${missing}\` is missing` : `\`${missing}\` is missing in ${where}`;
      return describeMissing(shape, definition, [missing], { reason, path });
    }
    case "type": {
      const expected = typeWords[String(error.params.type)] ?? error.params.type;
      const reason = `${where} must be ${expected}, but it is ${describeWritten(value)}`;
      return { reason, path, hint: hintForType(path, value) };
    }
    case "enum": {
      const allowed = (error.params.allowedValues as string[]).map((one) => `\`${one}\``);
      return { reason: `${where} must be one of ${listOf(allowed)}`, path };
    }
    case "const":
      return { reason: `${where} must be \`${error.params.allowedValue}\``, path };
    case "pattern":
      return { reason: `${where} is empty`, path };
    case "anyOf":
      return {
        reason: `${where} has none of the valid forms: it is ${describeWritten(value)}`,
        path,
        hint:
          path[0] === "complete"
            ? "Write an array of strings, or a module and its export: `./lib/docs.js#completePage`."
            : ["handler", "initialize", "subscribe"].includes(String(path.at(-1)))
              ? "Write a module and its export, relative to the package root: `./lib/tools.js#createIssue`."
              : undefined,
      };
    default:
      return { reason: `${where} ${error.message ?? "is not valid"}`, path };
  }
}

/** Whether the short form `parameters` contains a whole JSON Schema, which belongs in `inputSchema`. */
export function holdsWholeSchema({ parameters }: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(parameters)) return false;
  const { type, properties, required } = parameters;
  return isRecord(properties) && (type === "object" || Array.isArray(required));
}
