import type { Breach } from "../extension-schema/shape-faults.ts";
import { type Path, printable } from "../problems/index.ts";

/** `$${`, `${NAME}`, `${NAME:-default}`, or a `${` that begins none of these. */
const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\})?/g;

/** Variables of editors, which have no counterpart in the environment. */
const editorVariables = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"];

export class UnsetVariableError extends Error {
  readonly variable: string;
  readonly path: Path;
  constructor(variable: string, path: Path) {
    super(`the variable ${variable} is not set`);
    this.variable = variable;
    this.path = path;
  }
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` with values of the environment, and `$${` with `${`. A default also replaces
 * an empty value. Throws `UnsetVariableError`, with `path`. The string must have no faults.
 */
export function expandVariables(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  path: Path,
): string {
  return text.replace(reference, (match: string, name?: string, fallback?: string) => {
    if (name === undefined) return match === "$${" ? "${" : match;
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value === undefined) throw new UnsetVariableError(name, path);
    return value;
  });
}

/** Finds a `${` that is neither a reference to a variable nor escaped. */
export function explainReference(text: string): Breach | undefined {
  for (const { 0: match, 1: name, index } of text.matchAll(reference)) {
    if (match === "$${" || (name !== undefined && !editorVariables.includes(name))) continue;
    const rest = text.slice(index);
    // The rest of the string may be secret.
    const [start = "${", isWhole] = /^\$\{[\w:]{0,40}(\}?)/.exec(rest) ?? [];
    const shown = printable(isWhole === "}" ? start : `${start}…`);
    // `${env:NAME}` and similar forms keep their name.
    const [, named = "NAME"] = /^\$\{(?:\w{1,40}:)?([A-Za-z_][\w-]{0,39})(?![\w-])/.exec(rest) ?? [];
    const variable = editorVariables.includes(named) ? "NAME" : named.replaceAll("-", "_");
    const hint = `Write a variable as \`\${${variable}}\`, or \`$\${\` for a literal \`\${\`.`;
    return { words: `contains \`${shown}\`, which is not a reference to a variable`, hint };
  }
  return undefined;
}
