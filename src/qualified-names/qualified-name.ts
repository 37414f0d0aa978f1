import validRange from "semver/ranges/valid.js";
import { describeType } from "../data/parse-json.ts";
import { failure } from "../problems/index.ts";
import { explainInvalidItemName, isPackageName, splitSpec } from "./item-name.ts";

/** The parts of a qualified name. */
export interface QualifiedName {
  /** The npm scope without its `@`; `undefined` for a pack without one. */
  publisher: string | undefined;
  /** The pack's short name: the npm name without the scope. */
  pack: string;
  /** The npm name. */
  packageName: string;
  item: string;
  /** The semver range after the pack's name, as written. */
  range: string | undefined;
}

const maximumLength = 512;

function readQualifiedName(name: string): QualifiedName | string {
  if (name.length > maximumLength) return `it is longer than ${maximumLength} characters`;
  const segments = name.replace(/^@/, "").split("/");
  if (segments.includes("")) return "a segment is empty";
  if (segments.length === 1 || segments.length > 3) return "it does not have two or three segments";
  if (name.startsWith("@") && segments.length === 2) return "it names a pack without an item";

  const item = segments.at(-1) ?? "";
  const [packWithRange = "", publisher] = [segments.at(-2), segments.at(-3)];
  const { name: pack, range } = splitSpec(packWithRange);
  const packageName = publisher === undefined ? pack : `@${publisher}/${pack}`;

  if (!isPackageName(packageName)) return "npm does not allow this package name";
  if (range !== undefined && (range.trim() === "" || /[^ -~]/.test(range) || validRange(range) === null)) {
    return "the part after the @ is not a semver range";
  }
  const reason = explainInvalidItemName(item);
  if (reason !== undefined) return `the item name is not valid (${reason})`;
  return { publisher, pack, packageName, item, range };
}

/**
 * Parses `pack/item` or `publisher/pack/item`. A leading `@` is accepted; a semver range may follow the pack.
 * Throws `TrailblazeError` `InvalidQualifiedName` for anything else.
 */
export function parseQualifiedName(name: string): QualifiedName {
  // Callers without types may pass anything, even values that cannot be turned into a string.
  const value: unknown = name;
  if (typeof value !== "string") {
    throw failure("InvalidQualifiedName", { name: describeType(value), reason: "it is not a string" });
  }
  const parsed = readQualifiedName(value);
  if (typeof parsed === "string") throw failure("InvalidQualifiedName", { name: value, reason: parsed });
  return parsed;
}

/** True if `parseQualifiedName` accepts the value. Never throws. */
export function isQualifiedName(value: unknown): value is string {
  return typeof value === "string" && typeof readQualifiedName(value) !== "string";
}

/** The inverse of `parseQualifiedName`, in normal form (no leading `@`), with the range. */
export function formatQualifiedName({
  publisher,
  pack,
  item,
  range,
}: Pick<QualifiedName, "pack" | "item"> & Partial<Pick<QualifiedName, "publisher" | "range">>): string {
  const scope = publisher === undefined ? "" : `${publisher}/`;
  return `${scope}${pack}${range === undefined ? "" : `@${range}`}/${item}`;
}
