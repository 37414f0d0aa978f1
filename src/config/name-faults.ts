import { isRecord } from "../data/parse-json.ts";
import { type Path, quote, TrailblazeError } from "../problems/index.ts";
import {
  explainInvalidItemName,
  formatQualifiedName,
  parseQualifiedName,
  type QualifiedName,
} from "../qualified-names/index.ts";
import type { ConfigFault } from "./config-file.ts";

/** A name without a slash: the advertised name of a tool, or the name of a user's own item. */
const shortName = /^[A-Za-z0-9_.-]{1,128}$/;

/** Keys with a special meaning on JavaScript objects. */
const reservedKeys = ["__proto__", "constructor", "prototype"];

function parse(name: string): QualifiedName | { fault: string } {
  try {
    return parseQualifiedName(name);
  } catch (error) {
    if (error instanceof TrailblazeError) return { fault: error.message.replace(/\.$/, "") };
    throw error;
  }
}

/** The normal form of a tool name in `options`: a qualified name without `@`, or a built-in's name. */
export function readToolName(written: string): string | { fault: string } {
  if (!written.includes("/")) {
    return shortName.test(written) ? written : { fault: `${quote(written)} is not a valid tool name` };
  }
  const name = parse(written);
  if ("fault" in name) return name;
  if (name.range !== undefined)
    return { fault: `${quote(written)} contains a version, which options do not support` };
  return formatQualifiedName(name);
}

/** Finds reserved and empty keys of `memory`. */
export function* findMemoryFaults(memory: unknown): Generator<ConfigFault> {
  for (const key of isRecord(memory) ? Object.keys(memory) : []) {
    if (!reservedKeys.includes(key) && key !== "") continue;
    const what = key === "" ? "an empty key" : `the reserved key ${quote(key)}`;
    yield { reason: `\`memory\` has ${what}`, path: ["memory", key] };
  }
}

/** Finds invalid and duplicate keys of `options`. */
export function* findOptionsFaults(options: unknown): Generator<ConfigFault> {
  const seen = new Set<string>();
  for (const key of isRecord(options) ? Object.keys(options) : []) {
    const name = readToolName(key);
    if (typeof name === "object") {
      const hint = 'Use "publisher/pack/item", "pack/item", or the name of a built-in.';
      yield { reason: `\`options\` has an invalid key: ${name.fault}`, path: ["options", key], hint };
    } else if (seen.has(name)) {
      yield { reason: `\`options\` names the tool ${quote(name)} twice`, path: ["options", key] };
    } else {
      seen.add(name);
    }
  }
}

/** Finds entries of an array that are not valid references. The schema checks that they are strings. */
export function* findReferenceFaults(list: unknown, path: Path): Generator<ConfigFault> {
  for (const [index, reference] of Array.isArray(list) ? list.entries() : []) {
    if (typeof reference !== "string" || reference.trim() === "" || shortName.test(reference)) continue;
    const name = reference.includes("/")
      ? parse(reference)
      : { fault: `${quote(reference)} is not a valid reference` };
    if ("fault" in name) yield { reason: name.fault, path: [...path, index] };
  }
}

/** Finds keys of a user's items that are not valid names. */
export function* findItemNameFaults(items: unknown, key: string): Generator<ConfigFault> {
  const firstByCase = new Map<string, string>();
  for (const name of isRecord(items) ? Object.keys(items) : []) {
    const reason = explainInvalidItemName(name);
    const other = firstByCase.get(name.toLowerCase());
    if (reason !== undefined) {
      yield { reason: `\`${key}\` has the invalid name ${quote(name)}: ${reason}`, path: [key, name] };
    } else if (other !== undefined) {
      yield {
        reason: `the names ${quote(name)} and ${quote(other)} in \`${key}\` differ only in case`,
        path: [key, name],
      };
    } else {
      firstByCase.set(name.toLowerCase(), name);
    }
  }
}
