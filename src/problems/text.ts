// Text from packs is untrusted: it may contain escape sequences, bidirectional overrides or invisible characters.
// Everything that people read goes through this module.

import { replaceUnprintable } from "./hidden-characters.ts";

const escapeCharacter = (character: string) =>
  `\\u{${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`;

/** The text on one line, with unprintable characters as `\u{…}`. */
export const printable = (text: string): string =>
  replaceUnprintable(text.replace(/[\t\r\n]+/g, " "), escapeCharacter);

export function printableLines(text: string): string {
  return text.split(/\r?\n/).map(printable).join("\n");
}

/** A number with thousands separators: `12,345`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A number and its noun: `1 tool`, `12,345 tools`. */
export const countOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Limit on the characters of one string in output, and of a description in validation. */
export const longestText = 4096;

export function countCharacters(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

/** The text, cut after `limit` characters, with the number of omitted ones and an optional `note`. */
export function shorten(text: string, limit = longestText, note = ""): string {
  if (text.length <= limit) return text;
  const head = [...text.slice(0, 2 * limit)].slice(0, limit).join("");
  const rest = countCharacters(text.slice(head.length));
  if (rest === 0) return text;
  return `${head}… (${countOf(rest, "more character")}${note})`;
}

/** The printable text in double quotes, cut after `limit` characters. */
export function quote(text: string, limit = 80): string {
  const characters = [...text];
  const cut = characters.length > limit ? `${characters.slice(0, limit).join("")}…` : text;
  return `"${printable(cut)}"`;
}

/** Formats a limit in bytes: `32 MiB`, or `1000 bytes` if it is not a whole number of MiB. */
export function formatSize(bytes: number): string {
  return bytes % (1 << 20) === 0 ? `${bytes / (1 << 20)} MiB` : `${bytes} bytes`;
}

/** Joins names: `a`, `a or b`, `a, b or c`. */
export function listOf(names: readonly string[], conjunction: "and" | "or" = "or"): string {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} ${conjunction} ${names.at(-1)}`;
}

/**
 * A word of a command line for messages, quoted if a shell would interpret it. Only words that are special in double quotes
 * have single ones, because cmd.exe does not know those.
 */
export function quoteForShell(word: string): string {
  if (/^(?!~)[\p{L}\p{N}_@%+=:,.~/\\-]+$/u.test(word)) return word;
  return /["$`!]|\\(?:\\|$)/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : `"${word}"`;
}

/** The package managers whose commands appear in hints. */
export type PackageManager = "npm" | "pnpm" | "yarn" | "bun" | "deno";

/** The command that adds a package to a project, or without a package installs its dependencies. */
export function formatInstall(manager: PackageManager = "npm", spec?: string): string {
  if (spec === undefined) return `${manager} install`;
  const source = manager === "deno" ? `npm:${spec}` : spec;
  return `${manager} ${manager === "npm" ? "install" : "add"} ${quoteForShell(printable(source))}`;
}

export interface ProcessExit {
  exitCode: number | null;
  signal: string | null;
  /** The reason why the host terminated it, which continues after "because": `it sent a message of more than 32 MiB`. */
  reason?: string;
  /** A remote server, which has no process; `reason` says why: `no connection: connect ECONNREFUSED 127.0.0.1:80`. */
  isLost?: boolean;
}

export interface UnexpectedExit extends ProcessExit {
  /** The end of its stderr output, without secrets. */
  stderrTail: string;
}

/** Continues after the subject: `exited with code 3`. */
export function describeExit({ exitCode, signal, reason, isLost }: ProcessExit): string {
  if (isLost) return `was lost: ${printable(reason ?? "")}`;
  if (reason !== undefined) return `was terminated because ${printable(reason)}`;
  return signal === null ? `exited with code ${exitCode}` : `was terminated by ${signal}`;
}
