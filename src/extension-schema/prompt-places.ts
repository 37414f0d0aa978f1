// Places for arguments in a prompt's content: `{{name}}`, white space allowed, but no `${{ … }}`, which others fill in.

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

function createExpression(names: Iterable<string>, end: string): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  if (choices.length === 0) return undefined;
  return new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*${end}`, "g");
}

/** Finds places for these names, whatever characters they have; the name is the first group. `undefined`: there can be none. */
export const placesFor = (names: Iterable<string>): RegExp | undefined => createExpression(names, "\\}\\}");

/** The same for places that lack their second brace. */
export const unclosedPlacesFor = (names: Iterable<string>): RegExp | undefined =>
  createExpression(names, "\\}(?!\\})");
