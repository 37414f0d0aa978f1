import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { readTextFile, replaceTextFile } from "../files/author-files.ts";
import type { Session } from "../session/session.ts";
import { formatDeclarations, type TypedModule, typedModules } from "./types/format-declarations.ts";

/** Declarations of a session's tools. */
export interface GeneratedTypes {
  declarations: string;
  /** Advertised names, sorted. */
  tools: string[];
}

/** The modules with types of tools that code in a folder can import; all if it can import none, as before an install. */
function findTypedModules(folder: string): readonly TypedModule[] {
  const { resolve: find } = createRequire(join(folder, "from-here.js"));
  const found = typedModules.filter((name) => {
    try {
      find(`${name === "trailblaze/session" ? "trailblaze" : name}/package.json`);
      return true;
    } catch {
      return false;
    }
  });
  return found.length === 0 ? typedModules : found;
}

/**
 * Declares all tools of a session, including those that are not for models, because code may call them. `cwd`: the folder
 * of the project, from which the declared modules are resolved.
 */
export function declareTools({ tools }: Pick<Session, "tools">, cwd: string = process.cwd()): GeneratedTypes {
  const declarations = formatDeclarations(tools, findTypedModules(cwd));
  return { declarations, tools: tools.map(({ name }) => name).sort() };
}

/** A file of declarations, compared with the current ones. */
export interface TypesFile {
  /** Absolute. */
  file: string;
  /** Whether it has other contents or is missing. */
  differs: boolean;
}

/** A text as it was written: other programs change line ends and add a byte order mark. */
export const asWritten = (text: string | undefined) => text?.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");

/** Compares a file with declarations, ignoring line ends and a byte order mark, which other programs change. */
export function compareTypes(declarations: string, path: string, cwd: string = process.cwd()): TypesFile {
  const file = resolve(cwd, path);
  return { file, differs: asWritten(readTextFile(file)) !== declarations };
}

/** Updates a file unless it is up to date. Throws `InvalidArguments` if it cannot be written. */
export function writeTypes(declarations: string, path: string, cwd: string = process.cwd()): TypesFile {
  const compared = compareTypes(declarations, path, cwd);
  if (compared.differs) replaceTextFile(compared.file, declarations);
  return compared;
}
