// Placeholders for arguments in a prompt's content: `{{name}}`, with optional spaces. `${{ … }}` is an expression instead.

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

function createExpression(names: Iterable<string>, end: string): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  if (choices.length === 0) return undefined;
  return new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*${end}`, "g");
}

/** Matches placeholders for these names, which are the first group; `undefined` if there are no names. */
export const placesFor = (names: Iterable<string>): RegExp | undefined => createExpression(names, "\\}\\}");

/** The same for placeholders without their second closing brace. */
export const unclosedPlacesFor = (names: Iterable<string>): RegExp | undefined =>
  createExpression(names, "\\}(?!\\})");
