// Placeholders for arguments in a prompt's content: `{{name}}`, with optional spaces. `${{ … }}` is an expression instead.

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/** Matches placeholders for these names, which are the first group; `undefined` if there are no names. */
export function placesFor(names: Iterable<string>): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  return choices.length === 0
    ? undefined
    : new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*\\}\\}`, "g");
}
