/** A fenced block of a Markdown text. */
export interface Block {
  /** First word after the fence. */
  readonly language: string;
  /** `title="…"` after it: the file that the block shows. */
  readonly title: string | undefined;
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

export type Part = string | Block;

const fence = /^```(\w*)(.*)$/;

/** Splits a Markdown text into its fenced blocks and the lines between them. */
export function parseMarkdown(markdown: string): Part[] {
  const parts: Part[] = [];
  const lines = markdown.split("\n");
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const opening = fence.exec(line);
    if (opening === null) {
      parts.push(line);
      continue;
    }
    const end = lines.indexOf("```", index + 1);
    if (end < 0) throw new Error(`The block of line ${index + 1} has no end`);
    const [, language = "", rest = ""] = opening;
    const title = /title="([^"]+)"/.exec(rest)?.[1];
    parts.push({ language, title, text: lines.slice(index + 1, end).join("\n"), line: index + 1 });
    index = end;
  }
  return parts;
}

/** The reverse of `parseMarkdown`. */
export function formatMarkdown(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      const title = part.title === undefined ? "" : ` title="${part.title}"`;
      return `\`\`\`${part.language}${title}\n${part.text}\n\`\`\``;
    })
    .join("\n");
}
