// Strings of tools are hostile: in the source that is generated they are literals and comments, and nothing else.

import { replaceUnprintable } from "../../problems/hidden-characters.ts";
import { printable } from "../../problems/index.ts";

const escapeUnits = (text: string): string =>
  text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What is a command wherever in the log of a CI job it is. */
const logCommand = /(##\w*)\[/g;

/** A string as a literal. */
export function formatLiteral(text: string): string {
  return replaceUnprintable(JSON.stringify(text), escapeUnits).replace(logCommand, "$1\\u005b");
}

/** The name of a property: as it is, or as a literal. */
export function formatKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : formatLiteral(name);
}

const longestComment = 2000;

/** Strings as a comment for documentation, each on lines of its own; empty for no words. */
export function formatDocComment(texts: readonly (string | undefined)[], indent: string): string {
  const words = texts.filter((text) => text !== undefined).join("\n\n");
  const cut = words.length > longestComment ? `${words.slice(0, longestComment)}…` : words;
  const lines = cut.split(/\r\n|[\n\r\u2028\u2029]/).map((line) =>
    printable(line.replaceAll("\t", "  "))
      .replaceAll("*/", "*\\/")
      .replace(logCommand, "$1\\[")
      // Neither a tag nor an instruction to the compiler.
      .replace(/(?<![\w.])@/g, "\\@")
      .trimEnd(),
  );
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
