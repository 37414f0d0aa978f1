import { pathToFileURL } from "node:url";

/** Counts from 1. */
export interface Position {
  line: number;
  column?: number;
}

const escapeExpression = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** The file in Node's output, as a path or as a URL. */
const namesOf = (file: string): string =>
  `(?:${escapeExpression(file)}|${escapeExpression(pathToFileURL(file).href)})`;

/**
 * The position at which Node points in a file: `FILE:LINE`, the line of source, and a caret below. `text` may not be
 * Node's output.
 */
export function positionOfCaret(text: string, file: string): Position | undefined {
  const found = new RegExp(`^${namesOf(file)}:(\\d{1,7})\\r?\\n[^\\n]*\\n([ \\t]*)\\^`).exec(text);
  return found === null ? undefined : { line: Number(found[1]), column: (found[2] ?? "").length + 1 };
}

/** The topmost position in the file in a stack. */
export function positionInStack(stack: string, file: string): Position | undefined {
  const caret = positionOfCaret(stack, file);
  if (caret !== undefined) return caret;
  const found = new RegExp(`[ (]${namesOf(file)}:(\\d{1,7}):(\\d{1,7})`).exec(stack);
  return found === null ? undefined : { line: Number(found[1]), column: Number(found[2]) };
}
