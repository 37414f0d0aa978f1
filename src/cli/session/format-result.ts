import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { stringifyExactly } from "../../data/exact-integers.ts";
import { printable, printableLines } from "../../problems/index.ts";
import type { ToolResult } from "../../runtime/tool-result.ts";

/** Formats a block of content: text with unprintable characters escaped, another block by its type. */
export const formatBlock = (block: Readonly<{ type: string; text?: unknown; mimeType?: unknown }>): string =>
  block.type === "text" && typeof block.text === "string"
    ? printableLines(block.text)
    : `[${printable(block.type)}${typeof block.mimeType === "string" ? ` ${printable(block.mimeType)}` : ""}]`;

/** Formats the result of a tool. */
export function formatResult({ variant, message, content, structuredContent }: ToolResult): string {
  const blocks = content.map(formatBlock);
  if (variant !== "Success") return `${variant}: ${blocks.join("\n") || printableLines(message)}`;
  if (blocks.length === 0 && structuredContent !== undefined)
    return printableLines(stringifyExactly(structuredContent, 2));
  return blocks.join("\n");
}

/** Creates a stream that escapes unprintable characters in the output of packs' code. */
export function createEscapingStream(write: (text: string) => void): Writable {
  const decoder = new StringDecoder("utf8");
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(printableLines(decoder.write(chunk)));
      done();
    },
  });
}
