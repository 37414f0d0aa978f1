import type { Breach } from "../extension-schema/shape-faults.ts";
import { failure, type Path, printable } from "../problems/index.ts";

/** `$${`, `${NAME}`, `${NAME:-default}`, or a `${` that begins none of these. */
const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-((?:(?!\$\{)[^}])*))?\})?/g;

/** Variables of editors, which have no counterpart in the environment. */
const editorVariables = ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator"];

/**
 * Replaces `${NAME}` and `${NAME:-default}` with values of the environment, and `$${` with `${`. A default also replaces
 * an empty value. The string must have no faults. Throws `TrailblazeError` `ServerStartFailed`, with the server's label, where
 * a variable is not set.
 */
export function expandVariables(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  { label, path }: { label: string; path: Path },
): string {
  return text.replace(reference, (match: string, name?: string, fallback?: string) => {
    if (name === undefined) return match === "$${" ? "${" : match;
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === "" ? fallback : value;
    if (value !== undefined) return value;
    const reason = `the variable ${name} is not set`;
    const hint = `Set it, or write \`\${${name}:-default}\` in the config.`;
    throw failure("ServerStartFailed", { label, reason, variable: name, hint }, { path });
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
