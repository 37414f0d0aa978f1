// Strings of tools are hostile: in generated source they may only occur in literals and comments.

import { escapeJson } from "../../problems/hidden-characters.ts";
import { printable } from "../../problems/index.ts";

/** Commands that CI systems recognize anywhere in a log. */
const logCommand = /(##\w*)\[/g;

/** A string as a literal. */
export function formatLiteral(text: string): string {
  return escapeJson(JSON.stringify(text));
}

/** The name of a property: as it is if possible, otherwise as a literal. */
export function formatKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : formatLiteral(name);
}

const longestComment = 2000;

/** Strings as a doc comment; empty if there are none. */
export function formatDocComment(texts: readonly (string | undefined)[], indent: string): string {
  const joined = texts.filter((text) => text !== undefined).join("\n\n");
  const cut = joined.length > longestComment ? `${joined.slice(0, longestComment)}…` : joined;
  const lines = cut.split(/\r\n|[\n\r\u2028\u2029]/).map((line) =>
    printable(line.replaceAll("\t", "  "))
      .replaceAll("*/", "*\\/")
      .replace(logCommand, "$1\\[")
      // Prevents doc tags and instructions to the compiler.
      .replace(/(?<![\w.])@/g, "\\@")
      .trimEnd(),
  );
  while (lines.at(-1) === "") lines.pop();
  while (lines[0] === "") lines.shift();
  if (lines.length === 0) return "";
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}
