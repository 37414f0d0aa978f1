import { createRequire } from "node:module";
import { join } from "node:path";
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
