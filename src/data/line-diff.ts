import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

/** A unified diff of two texts; empty if they are equal. `undefined` stands for a missing file. */
export function formatLineDiff(file: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return "";
  const name = (text: string | undefined) => (text === undefined ? "/dev/null" : file);
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(
    name(before),
    name(after),
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    options,
  );
}
