import type { core } from "zod/mini";
import { describeType, isRecord } from "../data/parse-json.ts";
import { valueAt } from "../extension-schema/pointer.ts";
import { describeIssue, partsOf } from "../extension-schema/shape-faults.ts";
import { type Path, quote } from "../problems/index.ts";
import { explainInvalidItemName } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { ConfigFault } from "./config-file.ts";
import { type CheckedConfig, config } from "./config-schema.ts";
import { explainInvalidPattern, patternHint } from "./packs-config.ts";

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
  const { element, valueType, shape, catchall } = partsOf(schema);
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

/** Formats a path for people: `servers.mine.tools[0]`. */
export function formatPath(path: Path): string {
  const parts = path.map((key) => {
    if (typeof key === "number") return `[${key}]`;
    return /^[\w-]{1,80}$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  });
  return parts.join("").replace(/^\./, "");
}

/**
 * A hint for a value that YAML reads as a number or boolean instead of a string. Omits the value, which may be a secret
 * or differ from what was written.
 */
function hintToQuote(value: unknown): string | undefined {
  return typeof value === "number" || typeof value === "boolean" ? "Put it in quotes." : undefined;
}

function suggest(name: unknown, known: readonly string[]): string | undefined {
  const [nearest] = typeof name === "string" ? findNearestNames(name, known) : [];
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`;
}

/** Keys of clients' configs that contain servers or belong to them. */
const clientKeys = ["mcp", "inputs", "mcp_servers", "context_servers", "extensions"];

function hintForUnknownKey(path: Path, key: string): string | undefined {
  const [list, index, ...below] = path;
  if (list === undefined && clientKeys.includes(key))
    return "Write servers under `mcpServers`, or run `trailblaze import` with the config of a client.";
  if (list === "servers" && below.length === 0 && (key === "command" || key === "script"))
    return "Move subprocess servers to `trailblazeSubprocessToolsets`.";
  if (list !== "trailblazeSubprocessToolsets" || index === undefined || below.length > 0) return undefined;
  if (key === "disabled") return "Write `enabled: false`.";
  return "Remove it, or move the server to `mcpServers`, which accepts keys of clients.";
}

const sseHint = "Use the URL of the server's streamable HTTP endpoint";

const describeSse = (path: Path, hint: string): ConfigFault => {
  const reason = `\`${formatPath(path)}\` is sse, a deprecated transport that is not supported`;
  return { reason, path, hint };
};

function describeUnknownKey(written: unknown, path: Path, known: readonly string[]): ConfigFault {
  const owner = path.slice(0, -1);
  const key = String(path.at(-1));
  if (owner[0] === "trailblazeSubprocessToolsets" && owner.length === 2 && key === "type") {
    if (valueAt(written, path) === "sse") return describeSse(path, `${sseHint}, and remove \`type\`.`);
  }
  const where = owner.length === 0 ? "the config" : `\`${formatPath(owner)}\``;
  const ofServer = owner[0] === "servers" ? hintForUnknownKey(owner, key) : undefined;
  const hint = ofServer ?? suggest(key, known) ?? hintForUnknownKey(owner, key);
  return { reason: `${where} has no key ${quote(key)}`, path, hint };
}

const unlockedHint =
  "Use tool:, prompt: or resource: before LABEL/name or publisher/pack/name (of a resource, the URI is the name), server:LABEL, server:publisher/pack/name, or pack:publisher/pack, where * matches any part of a segment.";

/** Describes a string that does not match its pattern. */
function describeFormat(value: string, fault: ConfigFault): ConfigFault {
  const { path } = fault;
  const where = `\`${formatPath(path)}\``;
  if (path.at(-1) === "prefix") {
    const hint = "Use at most 64 characters from A-Z, a-z, 0-9, _ and -.";
    return { reason: `${where} has the invalid value ${quote(value, 40)}`, path, hint };
  }
  if (path.at(-1) === "toolset")
    return { reason: `${where} is not a valid name: ${explainInvalidItemName(value)}`, path };
  if (path[0] === "lock")
    return {
      reason: `${quote(value)} is not a valid pattern of what needs no approval`,
      path,
      hint: unlockedHint,
    };
  if (path[0] === "packs") {
    const why = explainInvalidPattern(value);
    return { reason: `${quote(value)} is not a valid pattern: ${why}`, path, hint: patternHint };
  }
  if (path[0] !== "device" || path[1] !== "platform") return fault;
  const reason = `${where} must be ANDROID, IOS or WEB, but it is ${quote(value, 40)}`;
  return { reason, path, hint: suggest(value, ["ANDROID", "IOS", "WEB"]) };
}

/** Describes what zod found in a config. Other names that users choose than empty labels are checked elsewhere. */
function describeConfigIssue(issue: core.$ZodIssue, cleaned: unknown): ConfigFault[] {
  if (issue.code === "invalid_key") {
    const reason = "`mcpServers` has a server with an empty name";
    return issue.path[0] === "mcpServers" ? [{ reason, path: issue.path as Path }] : [];
  }
  const { missing: _, ...fault } = describeIssue(issue, cleaned, {
    path: (path) => `\`${formatPath(path)}\``,
    word: (word) => word,
    value: describeType,
  });
  const { path } = fault;
  const value = valueAt(cleaned, path);
  switch (issue.code) {
    case "invalid_type":
      return [{ ...fault, hint: issue.expected === "string" ? hintToQuote(value) : undefined }];
    case "invalid_value":
      if (path[0] === "mcpServers" && value === "sse")
        return [describeSse(path, `${sseHint}, and \`type: http\`.`)];
      return [{ ...fault, hint: suggest(value, issue.values.map(String)) }];
    case "invalid_format":
      return [describeFormat(String(value), fault)];
    case "invalid_union": {
      // `packs.memory` is the only union: one of two words, or an object, whose entries say more than the union.
      const inner = issue.errors.find((issues) => issues.every((one) => one.path.length > 0));
      if (inner !== undefined)
        return inner.flatMap((one) => describeConfigIssue({ ...one, path: [...path, ...one.path] }, cleaned));
      const reason = `\`${formatPath(path)}\` must be all, none, or an object of arrays of keys by pack`;
      return [{ reason, path }];
    }
    default:
      return [fault];
  }
}

/** A config against its schema. */
export interface ShapeCheck {
  /** Without custom keys and keys without a value. */
  cleaned: Readonly<Record<string, unknown>>;
  /** With defaults; `undefined` if something violates the schema. */
  checked: CheckedConfig | undefined;
  faults: ConfigFault[];
}

/** Checks a config against its schema. */
export function checkShape(written: Readonly<Record<string, unknown>>): ShapeCheck {
  const faults: ConfigFault[] = [];
  const cleaned = cleanConfig(config, written, (path, known) =>
    faults.push(describeUnknownKey(written, path, known)),
  ) as Record<string, unknown>;
  for (const server of Object.values(isRecord(cleaned.mcpServers) ? cleaned.mcpServers : {})) {
    // An array of `tools` is a key of clients.
    if (isRecord(server) && Array.isArray(server.tools)) delete server.tools;
  }
  const { data, error } = config.safeParse(cleaned);
  faults.push(...(error?.issues ?? []).flatMap((issue) => describeConfigIssue(issue, cleaned)));
  return { cleaned, checked: data, faults };
}
