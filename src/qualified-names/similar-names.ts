import leven from "leven";

/** Replaces characters that look alike in many fonts, and separators, with one representative each. */
function foldLookalikes(name: string): string {
  return name
    .toLowerCase()
    .replace(/^@/, "")
    .replace(/[-_./]/g, "-")
    .replace(/0/g, "o")
    .replace(/[1i|]/g, "l")
    .replace(/rn/g, "m")
    .replace(/vv/g, "w")
    .replace(/cl/g, "d")
    .replace(/5/g, "s");
}

/** Whether two different names differ by one inserted, deleted or replaced character, or by two swapped ones. */
function hasEditDistanceOne(a: string, b: string): boolean {
  if (leven(a, b, { maxDistance: 2 }) <= 1) return true;
  const at = [...a].findIndex((character, index) => character !== b[index]);
  return `${a.slice(0, at)}${a[at + 1]}${a[at]}${a.slice(at + 2)}` === b;
}

/** Shorter scopes (with their @) and names are exempt: in a family of packs, one letter may be the only difference. */
const shortest = 4;

/** Whether a package's name may be a misspelling or an imitation of an existing one. */
function isSimilar(name: string, existing: string): boolean {
  if (foldLookalikes(name) === foldLookalikes(existing)) return true;
  const segments = name.toLowerCase().split("/");
  const others = existing.toLowerCase().split("/");
  const differing = others.filter((other, index) => other !== segments[index]);
  const [meant = ""] = differing;
  const written = segments[others.indexOf(meant)] ?? "";
  const isOne = differing.length === 1 && segments.length === others.length;
  return isOne && meant.length >= shortest && hasEditDistanceOne(written, meant);
}

/** The first existing name that a new name may be confused with; `undefined` if the new name already exists. */
export function findSimilarName(name: string, existing: Iterable<string>): string | undefined {
  const names = [...new Set(existing)].sort();
  return names.includes(name) ? undefined : names.find((one) => isSimilar(name, one));
}
