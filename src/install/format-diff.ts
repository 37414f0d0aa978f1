import { formatLineDiff, splitLines } from "../data/line-diff.ts";
import type { ConfigDocument } from "./editing/config-document.ts";
import { maskSecrets } from "./mask-secrets.ts";

/** The lines in a range of a config, without secrets. */
function showLines(config: ConfigDocument | undefined, from: number, to: number, former?: ConfigDocument) {
  if (config === undefined) return [];
  const lines = splitLines(config.text);
  const lengthOf = (count: number) => lines.slice(0, count).join("").length;
  return splitLines(maskSecrets(config, [lengthOf(from), lengthOf(to)], former)).slice(from, to);
}

/** A unified diff of two configs without secrets; empty if they are equal. `undefined` stands for a missing file. */
export function formatDiff(
  file: string,
  before: ConfigDocument | undefined,
  after: ConfigDocument | undefined,
): string {
  return formatLineDiff(file, before?.text, after?.text, (which, from, to) =>
    which === "before" ? showLines(before, from, to) : showLines(after, from, to, before),
  );
}
