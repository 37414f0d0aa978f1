import type { ContentBlock } from "../../src/runtime/tool-result.ts";

/** The text of the first block; `undefined` if it is of another type. */
export function firstText({ content: [block] }: { content: readonly ContentBlock[] }): string | undefined {
  return block?.type === "text" ? block.text : undefined;
}
