import validRange from "semver/ranges/valid.js";
import { describeType } from "../data/parse-json.ts";
import { failure } from "../problems/index.ts";
import { explainInvalidItemName, isPackageName } from "./item-name.ts";

/** A qualified name in its parts. */
export interface QualifiedName {
  /** The npm scope without its `@`; `undefined` for a pack without one. */
  publisher: string | undefined;
  /** The pack's short name: the npm name without the scope. */
  pack: string;
  /** The npm name. */
  packageName: string;
  item: string;
  /** The semver range that followed the pack, as it was written. */
  range: string | undefined;
}

const maximumLength = 512;

/** The parts of a name, or the reason why it is none. */
function readQualifiedName(name: string): QualifiedName | string {
  if (name.length > maximumLength) return `it is longer than ${maximumLength} characters`;
  const segments = name.replace(/^@/, "").split("/");
  if (segments.includes("")) return "a segment is empty";
  if (segments.length === 1) return "it has no slash";
  if (segments.length > 3) return "it has more than three segments";
  if (name.startsWith("@") && segments.length === 2) return "it names a pack, but no item of it";

  const item = segments.at(-1) ?? "";
  const [packWithRange = "", publisher] = [segments.at(-2), segments.at(-3)];
  const at = packWithRange.indexOf("@");
  const pack = at < 0 ? packWithRange : packWithRange.slice(0, at);
  const range = at < 0 ? undefined : packWithRange.slice(at + 1);
  const packageName = publisher === undefined ? pack : `@${publisher}/${pack}`;

  if (!isPackageName(packageName)) return "npm allows no package of that name";
  if (range !== undefined && (range.trim() === "" || /[^ -~]/.test(range) || validRange(range) === null)) {
    return "what follows the @ is not a semver range";
  }
  const whyNot = explainInvalidItemName(item);
  if (whyNot !== undefined) return `its item's name is not allowed (${whyNot})`;
  return { publisher, pack, packageName, item, range };
}

/**
 * Reads `pack/item` or `publisher/pack/item`; a leading `@` is accepted, a semver range may follow the pack.
 * Throws `TrailblazeError` `InvalidQualifiedName` for anything else.
 */
export function parseQualifiedName(name: string): QualifiedName {
  // Callers without types may pass anything, even values that cannot be turned into a string.
  const given: unknown = name;
  if (typeof given !== "string") {
    throw failure("InvalidQualifiedName", { name: describeType(given), reason: "it is not a string" });
  }
  const parsed = readQualifiedName(given);
  if (typeof parsed === "string") throw failure("InvalidQualifiedName", { name: given, reason: parsed });
  return parsed;
}

/** True if `parseQualifiedName` would read it. Never throws, whatever the value. */
export function isQualifiedName(value: unknown): value is string {
  return typeof value === "string" && typeof readQualifiedName(value) !== "string";
}

/** The reverse of `parseQualifiedName`, in its normal form (no leading `@`), the range kept. */
export function formatQualifiedName({
  publisher,
  pack,
  item,
  range,
}: Pick<QualifiedName, "pack" | "item"> & Partial<Pick<QualifiedName, "publisher" | "range">>): string {
  const scope = publisher === undefined ? "" : `${publisher}/`;
  return `${scope}${pack}${range === undefined ? "" : `@${range}`}/${item}`;
}
