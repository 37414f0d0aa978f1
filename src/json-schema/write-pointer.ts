import type { Path } from "../problems/index.ts";
/** A path as a JSON pointer: `""` for the top. */
export function writePointer(path: Path): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
