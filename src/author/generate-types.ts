import { resolve } from "node:path";
import { readTextFile, replaceTextFile } from "../files/author-files.ts";
import type { Session } from "../session/session.ts";
import { formatDeclarations } from "./types/format-declarations.ts";

/** Declarations of a session's tools. */
export interface GeneratedTypes {
  declarations: string;
  /** Advertised names, sorted. */
  tools: string[];
}

/** Declares every tool of a session, whether models see it or not: code may call it. */
export function declareTools({ tools }: Pick<Session, "tools">): GeneratedTypes {
  return { declarations: formatDeclarations(tools), tools: tools.map(({ name }) => name).sort() };
}

/** A file of declarations, compared with what it should hold. */
export interface TypesFile {
  /** Absolute. */
  file: string;
  /** It holds something else, or is not there. */
  differs: boolean;
}

const asWritten = (text: string | undefined) => text?.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");

/** Compares a file with declarations; line ends and a byte order mark, which other programs set, are no differences. */
export function compareTypes(declarations: string, path: string, cwd: string = process.cwd()): TypesFile {
  const file = resolve(cwd, path);
  return { file, differs: asWritten(readTextFile(file)) !== declarations };
}

/** Brings a file up to date; one that is stays untouched. Throws `InvalidArguments` where the system refuses. */
export function writeTypes(declarations: string, path: string, cwd: string = process.cwd()): TypesFile {
  const compared = compareTypes(declarations, path, cwd);
  if (compared.differs) replaceTextFile(compared.file, declarations);
  return compared;
}
