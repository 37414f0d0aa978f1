import type { core } from "zod/mini";
import { isRecord } from "../data/parse-json.ts";
import { valueAt } from "../extension-schema/pointer.ts";
import { describeIssues, parseShape, partsOf } from "../extension-schema/shape-faults.ts";
import { type Path, quote } from "../problems/index.ts";
import type { ConfigFault } from "./config-file.ts";
import { sse, sseHint, suggest } from "./config-rules.ts";
import { config } from "./config-schema.ts";

/** Formats a path for people: `servers.mine.tools[0]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w-]{1,80}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

function describeUnknownKey(path: Path, value: unknown, known: readonly string[]): ConfigFault {
  const owner = path.slice(0, -1);
  const key = String(path.at(-1));
  if (key === "type" && value === "sse")
    return { reason: `\`${formatPath(path)}\` ${sse}`, path, hint: sseHint };
  const where = owner.length === 0 ? "the config" : `\`${formatPath(owner)}\``;
  return { reason: `${where} has no key ${quote(key)}`, path, hint: suggest(key, known) };
}

/** What a config says, and what it has that its schema does not know. */
class Cleaner {
  readonly faults: ConfigFault[] = [];

  /**
   * A copy of a value without what says nothing: custom keys and, except where users choose the keys, those without a
   * value, such as `packs:` in YAML. zod would leave out `__proto__` without a word.
   */
  clean(schema: core.$ZodType, value: unknown, path: Path = []): unknown {
    const form = partsOf(schema).options?.at(-1) ?? schema;
    const { element, valueType, shape, catchall } = partsOf(form);
    if (element !== undefined && Array.isArray(value))
      return value.map((entry, index) => this.clean(element, entry, [...path, index]));
    if (!isRecord(value) || (valueType === undefined && shape === undefined)) return value;
    const cleaned: Record<string, unknown> = {};
    for (const [key, entry] of Object.entries(value)) {
      const at = [...path, key];
      const isNothing =
        shape !== undefined && (entry === null || entry === undefined || key.startsWith("x-"));
      const inner = valueType ?? (Object.hasOwn(shape ?? {}, key) ? shape?.[key] : catchall);
      if (key === "__proto__" || (inner === undefined && !isNothing))
        this.faults.push(describeUnknownKey(at, entry, Object.keys(shape ?? {})));
      else if (inner !== undefined && !isNothing) cleaned[key] = this.clean(inner, entry, at);
    }
    return cleaned;
  }
}

const hintFor = (issue: core.$ZodIssue, value: unknown): string | undefined => {
  // YAML reads it as something else. Omits the value, which may be a secret or differ from what was written.
  const isScalar = typeof value === "number" || typeof value === "boolean";
  return issue.code === "invalid_type" && issue.expected === "string" && isScalar
    ? "Put it in quotes."
    : undefined;
};

/**
 * Checks a config against its schema. `cleaned` has no custom keys and no keys without a value; `checked` also has the
 * defaults, and is `undefined` if something violates the schema.
 */
export function checkShape(written: Readonly<Record<string, unknown>>) {
  const cleaner = new Cleaner();
  const cleaned = cleaner.clean(config, written) as Record<string, unknown>;
  for (const server of Object.values(isRecord(cleaned.mcpServers) ? cleaned.mcpServers : {})) {
    // An array of `tools` is a key of clients.
    if (isRecord(server) && Array.isArray(server.tools)) delete server.tools;
  }
  const { data, error } = parseShape(config, cleaned);
  const style = { path: (path: Path) => `\`${formatPath(path)}\``, word: (word: string) => word };
  const faults = describeIssues(error?.issues ?? [], cleaned, style).map(({ issue, reason, path, hint }) => ({
    reason,
    path,
    hint: hint ?? hintFor(issue, valueAt(cleaned, path)),
  }));
  return { cleaned, checked: data, faults: [...cleaner.faults, ...faults] };
}
