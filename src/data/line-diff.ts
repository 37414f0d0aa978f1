import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

/** More lines take too long to compare: the time grows with the square. */
const mostChangedLines = 2000;

/**
 * A unified diff of two texts; empty if they are equal. `undefined` stands for a missing file. Of texts that differ in very
 * many lines, all of the one is removed and all of the other added.
 */
export function formatLineDiff(file: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return "";
  const compare = (old: string | undefined, text: string | undefined) => {
    const name = (side: string | undefined) => (side === undefined ? "/dev/null" : file);
    // What is all new or all gone takes no time to compare.
    const maxEditLength = old && text ? mostChangedLines : Number.MAX_SAFE_INTEGER;
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength };
    return createTwoFilesPatch(name(old), name(text), old ?? "", text ?? "", undefined, undefined, options);
  };
  return compare(before, after) ?? `${compare(before, undefined)}${compare(undefined, after)}`;
}
