import type { core } from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import type { Path } from "../problems/index.ts";

/** The parts of schemas that contain others. */
interface Parts {
  type: string;
  innerType?: core.$ZodType;
  element?: core.$ZodType;
  valueType?: core.$ZodType;
  shape?: Readonly<Record<string, core.$ZodType>>;
  /** That of objects which allow any key. */
  catchall?: core.$ZodType;
}

/** Gets the path of a key that its object does not have, and the keys that it has. */
export type ReportUnknown = (path: Path, known: readonly string[]) => void;

/**
 * A copy of a config without what says nothing: custom keys and, except where users choose the keys, those without a
 * value, such as `packs:` in YAML. Reports unknown keys. zod itself would not report `__proto__`.
 */
export function cleanConfig(
  schema: core.$ZodType,
  value: unknown,
  report: ReportUnknown,
  path: Path = [],
): unknown {
  const { innerType, element, valueType, shape, catchall } = schema._zod.def as Parts;
  if (innerType !== undefined) return cleanConfig(innerType, value, report, path);
  if (element !== undefined && Array.isArray(value))
    return value.map((entry, index) => cleanConfig(element, entry, report, [...path, index]));
  if (!isRecord(value)) return value;
  const cleaned: [string, unknown][] = [];
  for (const [key, entry] of Object.entries(value)) {
    const at = [...path, key];
    if (valueType !== undefined) cleaned.push([key, cleanConfig(valueType, entry, report, at)]);
    if (shape === undefined || entry === null || entry === undefined) continue;
    const inner = Object.hasOwn(shape, key) ? shape[key] : catchall;
    if (inner !== undefined) cleaned.push([key, cleanConfig(inner, entry, report, at)]);
    else if (!key.startsWith("x-")) report(at, Object.keys(shape));
  }
  return valueType === undefined && shape === undefined ? value : Object.fromEntries(cleaned);
}
