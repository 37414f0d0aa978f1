import { stringsIn } from "../data/strings-in.ts";
import { type Path, printable } from "../problems/index.ts";
import type { ConfigFault } from "./config-file.ts";
import { formatPath } from "./shape-faults.ts";

/** `$${`, `${NAME}`, `${NAME:-default}`, or a `${` that begins none of these. */
const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\})?/g;

/** Variables of editors, which have no counterpart in the environment. */
const editorVariables = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"];

/** The keys of a server whose strings may refer to variables. */
const expandedKeys = ["command", "args", "cwd", "env", "url", "headers"];

/** A reference to a variable that is not set and has no default. */
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

/** Suggests a reference for the start of a string; `${env:NAME}` and similar forms keep their name. */
function hintFor(rest: string): string {
  const [, name] = /^\$\{(?:\w+:)?([A-Za-z_][\w-]*)/.exec(rest) ?? [];
  const literal = "or `$${` for a literal `${`";
  if (name === undefined) return `Write a variable as \`\${NAME}\`, ${literal}.`;
  if (editorVariables.includes(name)) return `Write a path, a variable as \`\${NAME}\`, ${literal}.`;
  return `Write \`\${${name.replaceAll("-", "_")}}\`, ${literal}.`;
}

function findFaultIn(text: string, path: Path): ConfigFault | undefined {
  for (const { 0: match, 1: name, index } of text.matchAll(reference)) {
    if (match === "$${" || (name !== undefined && !editorVariables.includes(name))) continue;
    const rest = text.slice(index);
    // The rest of the string may be secret.
    const [start = "${", isWhole] = /^\$\{[\w:]{0,40}(\}?)/.exec(rest) ?? [];
    const shown = isWhole === "}" ? start : `${start}…`;
    const reason = `\`${formatPath(path)}\` contains \`${printable(shown)}\`, which is not a reference to a variable`;
    return { reason, path, hint: hintFor(rest) };
  }
  return undefined;
}

/** Finds `${` in a server's strings that is neither a reference to a variable nor escaped. One fault per string. */
export function* findVariableFaults(
  values: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<ConfigFault> {
  for (const key of expandedKeys)
    for (const { text, path: at } of stringsIn(values[key], [...path, key])) {
      const fault = findFaultIn(text, at);
      if (fault !== undefined) yield fault;
    }
}
