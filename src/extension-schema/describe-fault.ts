import type { core } from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { type Path, quote } from "../problems/index.ts";
import { findMisnamedKeyAt } from "./definition-keys.ts";
import type { DefinitionShape } from "./definition-schema.ts";
import { describeWritten, valueAt } from "./pointer.ts";
import { describeIssue, type Fault } from "./shape-faults.ts";

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

/** The correct form of a value with none of the valid ones. */
function hintForForm(path: Path): string | undefined {
  if (path[0] === "complete")
    return "Write an array of strings, or a module and its export: `./lib/docs.js#completePage`.";
  return ["handler", "initialize", "subscribe"].includes(String(path.at(-1)))
    ? "Write a module and its export, relative to the package root: `./lib/tools.js#createIssue`."
    : undefined;
}

/** Describes a violation of a shape for people. */
export function describeFault(
  issue: core.$ZodIssue,
  shape: DefinitionShape,
  definition: Readonly<Record<string, unknown>>,
): Fault {
  const { missing, ...fault } = describeIssue(issue, definition, {
    path: formatPath,
    word: (word) => `\`${word}\``,
    value: describeWritten,
  });
  const { path } = fault;
  if (missing !== undefined) return describeMissing(shape, definition, [missing], fault);
  if (issue.code === "invalid_type") return { ...fault, hint: hintForType(path, valueAt(definition, path)) };
  return issue.code === "invalid_union" ? { ...fault, hint: hintForForm(path) } : fault;
}

/** Whether the short form `parameters` contains a whole JSON Schema, which belongs in `inputSchema`. */
export function holdsWholeSchema({ parameters }: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(parameters)) return false;
  const { type, properties, required } = parameters;
  return isRecord(properties) && (type === "object" || Array.isArray(required));
}
