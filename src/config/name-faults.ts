import { isRecord } from "../data/parse-json.ts";
import { type Path, quote, TrailblazeError } from "../problems/index.ts";
import {
  explainInvalidItemName,
  formatQualifiedName,
  parseQualifiedName,
  type QualifiedName,
} from "../qualified-names/index.ts";
import type { ConfigFault } from "./config-file.ts";

/** What a name without a slash may be: the advertised name of a tool, or the name of one of the user's own items. */
const shortName = /^[A-Za-z0-9_.-]{1,128}$/;

/** Keys that mean something else on an object than what a user would put there. */
const reservedKeys = ["__proto__", "constructor", "prototype"];

function parse(name: string): QualifiedName | { fault: string } {
  try {
    return parseQualifiedName(name);
  } catch (error) {
    if (error instanceof TrailblazeError) return { fault: error.message.replace(/\.$/, "") };
    throw error;
  }
}

/** A tool's name as options go by it: qualified without `@`, or a built-in's. */
export function readToolName(written: string): string | { fault: string } {
  if (!written.includes("/")) {
    return shortName.test(written) ? written : { fault: `${quote(written)} is no name of a tool` };
  }
  const name = parse(written);
  if ("fault" in name) return name;
  if (name.range !== undefined) return { fault: `${quote(written)} names a version, which options cannot` };
  return formatQualifiedName(name);
}

/** Keys of `memory` that no object can safely have. */
export function* findMemoryFaults(memory: unknown): Generator<ConfigFault> {
  for (const key of isRecord(memory) ? Object.keys(memory) : []) {
    if (!reservedKeys.includes(key) && key !== "") continue;
    const what = key === "" ? "an empty key" : `the key ${quote(key)}, which JavaScript reserves`;
    yield { reason: `\`memory\` has ${what}`, path: ["memory", key] };
  }
}

/** Keys of `options` that name no tool, or one that another key names too. */
export function* findOptionsFaults(options: unknown): Generator<ConfigFault> {
  const seen = new Set<string>();
  for (const key of isRecord(options) ? Object.keys(options) : []) {
    const name = readToolName(key);
    if (typeof name === "object") {
      const hint = 'A tool goes by "publisher/pack/item", by "pack/item", or by a built-in\'s own name.';
      yield { reason: `\`options\`: ${name.fault}`, path: ["options", key], hint };
    } else if (seen.has(name)) {
      yield { reason: `\`options\` names the tool ${quote(name)} twice`, path: ["options", key] };
    } else {
      seen.add(name);
    }
  }
}

/** Entries of a list that cannot be references; that they are texts is seen to elsewhere. */
export function* findReferenceFaults(list: unknown, path: Path): Generator<ConfigFault> {
  for (const [index, reference] of Array.isArray(list) ? list.entries() : []) {
    if (typeof reference !== "string" || reference.trim() === "" || shortName.test(reference)) continue;
    const name = reference.includes("/")
      ? parse(reference)
      : { fault: `${quote(reference)} is no reference` };
    if ("fault" in name) yield { reason: name.fault, path: [...path, index] };
  }
}

/** Keys of a map of the user's own items that cannot be their names. */
export function* findItemNameFaults(items: unknown, key: string): Generator<ConfigFault> {
  const firstByCase = new Map<string, string>();
  for (const name of isRecord(items) ? Object.keys(items) : []) {
    const why = explainInvalidItemName(name);
    const other = firstByCase.get(name.toLowerCase());
    if (why !== undefined) {
      yield { reason: `\`${key}\`: ${quote(name)} cannot be a name: ${why}`, path: [key, name] };
    } else if (other !== undefined) {
      const reason = `\`${key}\`: ${quote(name)} and ${quote(other)} differ only in case`;
      yield { reason, path: [key, name] };
    } else {
      firstByCase.set(name.toLowerCase(), name);
    }
  }
}
