import type { core } from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path } from "../problems/index.ts";
import { valueAt } from "./pointer.ts";

/** A fault in a value of a file, with its path from the top of the value. */
export interface Fault {
  /** Continues a message after a colon, without a period. */
  reason: string;
  path: Path;
  hint?: string | undefined;
}

export type AnySchema = core.$ZodType;

/** The parts of zod's schemas that contain others. */
export interface SchemaParts {
  element?: AnySchema;
  valueType?: AnySchema;
  shape?: Readonly<Record<string, AnySchema>>;
  /** That of objects which allow any key. */
  catchall?: AnySchema;
}

/** The parts of a schema itself, without what says that a value is optional. */
export function partsOf(schema: AnySchema): SchemaParts {
  const parts = schema._zod.def as SchemaParts & { innerType?: AnySchema };
  return parts.innerType === undefined ? parts : partsOf(parts.innerType);
}

/** The names of zod's types for messages. */
const typeWords: Readonly<Record<string, string>> = {
  object: "an object",
  record: "an object",
  array: "an array",
  int: "an integer",
};

function describeValue(value: unknown, expected: string, style: Style): string {
  if (expected === "record" && isRecord(value)) return "an instance of a class";
  return expected === "int" && typeof value === "number" ? String(value) : style.value(value);
}

/** How messages show a path, a word that a value may be, and the value, which may be a secret. */
interface Style {
  path(path: Path): string;
  word(word: string): string;
  value(value: unknown): string;
}

/**
 * Describes what zod found in a value: the only words for violations of a shape. `missing` is the key that the object at
 * the path lacks.
 */
export function describeIssue(
  issue: core.$ZodIssue,
  root: unknown,
  style: Style,
): Fault & { missing?: string } {
  const path = issue.path as Path;
  const where = path.length === 0 ? "it" : style.path(path);
  const value = valueAt(root, path);
  switch (issue.code) {
    case "invalid_type": {
      const { expected } = issue;
      if (value !== undefined || path.length === 0) {
        const type = typeWords[expected] ?? `a ${expected}`;
        return {
          reason: `${where} must be ${type}, but it is ${describeValue(value, expected, style)}`,
          path,
        };
      }
      break;
    }
    case "invalid_value": {
      if (value === undefined) break;
      const allowed = issue.values.map((one) => style.word(String(one)));
      const words = allowed.length === 1 ? allowed[0] : `one of ${listOf(allowed)}`;
      const found = typeof value === "string" ? "" : `, but it is ${style.value(value)}`;
      return { reason: `${where} must be ${words}${found}`, path };
    }
    case "too_small":
      return { reason: `${where} must be at least ${issue.minimum}, but it is ${value}`, path };
    case "too_big":
      return { reason: `${where} must be at most ${issue.maximum}, but it is ${value}`, path };
    case "invalid_format":
      return { reason: `${where} is empty`, path };
    default:
      if (value === undefined) break;
      return { reason: `${where} has none of the valid forms: it is ${style.value(value)}`, path };
  }
  const owner = path.slice(0, -1);
  const missing = String(path.at(-1));
  const reason =
    owner.length === 0 ? `\`${missing}\` is missing` : `\`${missing}\` is missing in ${style.path(owner)}`;
  return { reason, path: owner, missing };
}
