import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { describeWritten } from "./pointer.ts";

/** What a pack says it needs. An absent key is not declared; an empty array means none. Its strings are untrusted. */
export interface Needs {
  /** Environment variables that `envPassthrough` of its servers may name. */
  env?: readonly string[];
  /** Hosts to connect to. Not enforced. */
  network?: readonly string[];
  /** Files and folders to read. Not enforced. */
  read?: readonly string[];
  /** Files and folders to write. Not enforced. */
  write?: readonly string[];
  /** Tools of others that its code calls. Not enforced. */
  tools?: readonly string[];
}

export type NeedsKey = keyof Needs;

export const needsKeys: readonly NeedsKey[] = ["env", "network", "read", "write", "tools"];

/** The valid entries of `env`; the JSON Schema has the same pattern. */
export const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Why a value is invalid; the hint is a sentence. */
export interface NeedsFault {
  reason: string;
  hint?: string | undefined;
  /** Inside `needs`. */
  path: Path;
}

function explainVariable(name: string): Omit<NeedsFault, "path"> {
  const hint = /[=\s]/.test(name)
    ? "List only names, without values."
    : 'Use letters, digits and "_", not starting with a digit, for example "JIRA_TOKEN".';
  return { reason: `${quote(name)} is not the name of an environment variable`, hint };
}

/** Reads the value of `needs`: keeps every valid entry, and passes each fault to `report`. Pure. */
export function readNeeds(value: unknown, report: (fault: NeedsFault) => void): Needs {
  if (!isRecord(value)) {
    const hint = `Use an object with the keys ${listOf(
      needsKeys.map((key) => `\`${key}\``),
      "and",
    )}, which are optional.`;
    report({ reason: `it must be an object, but it is ${describeWritten(value)}`, hint, path: [] });
    // An invalid value allows no variables.
    return { env: [] };
  }
  for (const key of Object.keys(value)) {
    if (key.startsWith("x-") || needsKeys.some((known) => known === key)) continue;
    const [nearest] = findNearestNames(key, needsKeys);
    const hint =
      nearest === undefined
        ? `Use one of ${listOf(needsKeys, "or")}, or start a custom key with "x-".`
        : `Did you mean "${nearest}"?`;
    report({ reason: `it has an unknown key ${quote(key)}`, hint, path: [key] });
  }
  const needs: Needs = {};
  for (const key of needsKeys) {
    const list = Object.hasOwn(value, key) ? value[key] : undefined;
    if (list === undefined) continue;
    if (!Array.isArray(list)) {
      const reason = `\`needs.${key}\` must be an array of strings, but it is ${describeWritten(list)}`;
      report({ reason, path: [key] });
      if (key === "env") needs.env = [];
      continue;
    }
    const valid: string[] = [];
    for (const [index, entry] of list.entries()) {
      if (typeof entry === "string" && (key !== "env" || variablePattern.test(entry))) {
        valid.push(entry);
        continue;
      }
      const fault =
        typeof entry === "string"
          ? explainVariable(entry)
          : { reason: `an entry of \`needs.${key}\` must be a string, but it is ${describeWritten(entry)}` };
      report({ ...fault, path: [key, index] });
    }
    needs[key] = valid;
  }
  return needs;
}
