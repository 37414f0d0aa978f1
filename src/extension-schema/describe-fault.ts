import { isRecord } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";
import { findMisnamedKeyAt } from "./definition-keys.ts";
import type { DefinitionShape } from "./generated/definition-validators.js";
import { describeWritten, readPointer, typeWords, valueAt } from "./pointer.ts";
import type { ValidatorError } from "./validator.ts";

/** What is wrong with a definition's shape, and where from the definition's top. */
export interface Fault {
  /** Goes on from "The tool's definition is not valid:", without a full stop. */
  reason: string;
  path: Path;
  hint?: string | undefined;
}

/** A path as people write it, which a pack's own keys may make long. */
export const formatPath = (path: Path) => `\`${path.join(".")}\``;

/**
 * A fault of something missing: at what stands in its place, with that as the hint; otherwise at what lacks it.
 * `missing` are the keys of which one must be there.
 */
export function describeMissing(
  shape: DefinitionShape,
  definition: Readonly<Record<string, unknown>>,
  missing: readonly string[],
  { reason, path, hint }: Fault,
): Fault {
  const misnamed = findMisnamedKeyAt(shape, definition, path, missing);
  if (misnamed === undefined) return { reason, path, hint };
  const { key, written } = misnamed;
  return {
    reason,
    path: [...path, written],
    hint: `Did you mean \`${key}\` where it says ${quote(written, 40)}?`,
  };
}

/** How a value that is of the wrong type should have been written, where that is easily mistaken. */
function hintForType(path: Path, value: unknown): string | undefined {
  const [top, name] = path;
  if (top === "parameters" && path.length === 1)
    return "Write a map from names to their schemas: `parameters: { city: { type: string } }`.";
  if (top === "parameters" && path.length === 2) {
    const type = typeof value === "string" && /^[a-z]+$/.test(value) ? value : "string";
    return `Write \`${name}: { type: ${type} }\`.`;
  }
  if (top === "parameters" && path.at(-1) === "required") return "Write `required: true`, or leave it out.";
  if (top === "options") return "Write a map from names to options: `maxResults: { default: 50 }`.";
  if (top === "arguments" && path.length <= 2)
    return "Write a list of arguments: `arguments: [{ name: city, required: true }]`.";
  if ((top === "tools" || top === "toolsets" || top === "prompts") && path.length === 1)
    return typeof value === "string" ? `Write \`${top}: [${value}]\`.` : "Write a list of references.";
  return undefined;
}

/** Says in plain words what a validator found. */
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
      const reason = path.length === 0 ? `\`${missing}\` is missing` : `${where} lacks \`${missing}\``;
      return describeMissing(shape, definition, [missing], { reason, path });
    }
    case "type": {
      const expected = typeWords[String(error.params.type)] ?? error.params.type;
      const reason = `${where} must be ${expected}, but is ${describeWritten(value)}`;
      return { reason, path, hint: hintForType(path, value) };
    }
    case "enum": {
      const allowed = (error.params.allowedValues as string[]).map((one) => `\`${one}\``);
      return { reason: `${where} must be one of ${allowed.join(", ")}`, path };
    }
    case "const":
      return { reason: `${where} must be \`${error.params.allowedValue}\``, path };
    case "pattern":
      return { reason: `${where} is empty`, path };
    case "anyOf":
      return {
        reason: `${where} has none of the forms it may have, but is ${describeWritten(value)}`,
        path,
        hint:
          path.at(-1) === "handler" || path.at(-1) === "initialize"
            ? "Write a module and its export, relative to the package: `./lib/tools.js#createIssue`."
            : undefined,
      };
    default:
      return { reason: `${where} ${error.message ?? "does not fit"}`, path };
  }
}

/** Whether the short form `parameters` holds a JSON Schema as a whole, which is what `inputSchema` is for. */
export function holdsWholeSchema({ parameters }: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(parameters)) return false;
  const { type, properties, required } = parameters;
  return isRecord(properties) && (type === "object" || Array.isArray(required));
}
