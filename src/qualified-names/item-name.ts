const characters = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

const reservedItemNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** The reason why a string is not a valid item name; `undefined` if it is valid. */
export function explainInvalidItemName(name: string): string | undefined {
  if (reservedItemNames.has(name)) return "it is a reserved key of JavaScript objects";
  if (!characters.test(name))
    return "it must have 1 to 64 characters from A-Z, a-z, 0-9, _, . and -, starting with a letter or digit";
  if (name.endsWith(".")) return "it ends with a period";
  if (deviceName.test(name)) return "it is a device name that Windows reserves";
  return undefined;
}

/**
 * A name cannot start with `.`, `_` or `-`, and behind a scope not with `.`. npm also allows a scope that starts with `-`, but
 * command lines would read a qualified name with it as an option.
 */
const packageName = /^(?:[A-Za-z0-9~][\w.~-]*|@[\w~][\w.~-]*\/[\w~-][\w.~-]*)$/;
/** npm's, in characters. */
const maximumPackageName = 214;

/** True for a package name that npm accepts, including old names with capital letters. */
export const isPackageName = (name: string): boolean =>
  name.length <= maximumPackageName && packageName.test(name);

/** Splits `@acme/jira@^1.2` into name and range. */
export function splitSpec(spec: string): { name: string; range: string | undefined } {
  const at = spec.indexOf("@", 1);
  return at < 0 ? { name: spec, range: undefined } : { name: spec.slice(0, at), range: spec.slice(at + 1) };
}

/** `acme/jira` for `@acme/jira`; a name without scope stays. */
export function qualifyPackageName(packageName: string): string {
  return packageName.startsWith("@") ? packageName.slice(1) : packageName;
}

/** A pattern of packs or items in a config: one to three segments. A regular expression, a range or `{a,b}` in `deny` would silently exclude nothing. */
export const packPattern = /^@?[\w.~*-]+(?:\/[\w.~*-]+){0,2}$/;
