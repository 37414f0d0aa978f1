/** The characters of an item's name: 1 to 64, the first a letter or digit. */
const characters = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Names that Windows reserves for devices, with or without an ending. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

/** Keys that mean something else on a JavaScript object than what a pack would put there. */
const reservedItemNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Why a text cannot be the name of an item; `undefined` if it can. */
export function explainInvalidItemName(name: string): string | undefined {
  if (reservedItemNames.has(name)) return "it is a reserved key of JavaScript objects";
  if (name === "") return "it is empty";
  if (name.length > 64) return "it is longer than 64 characters";
  if (!characters.test(name)) {
    return /^[A-Za-z0-9]/.test(name)
      ? "it holds a character that is not allowed"
      : "it does not begin with a letter or a digit";
  }
  if (name.endsWith(".")) return "it ends in a dot";
  if (deviceName.test(name)) return "Windows reserves it for a device";
  return undefined;
}

/** npm also allows a leading `-`, which every command line would take for an option. */
const packageNamePart = /^[A-Za-z0-9~][A-Za-z0-9._~-]*$/;
/** npm's own limit for a whole package name. */
const maximumPackageName = 214;

/** True for a name that npm would accept for a package, old ones with capital letters included. */
export function isPackageName(name: string): boolean {
  const [first = "", second, ...rest] = name.split("/");
  if (name.length > maximumPackageName || rest.length > 0) return false;
  if (second === undefined) return packageNamePart.test(first);
  return first.startsWith("@") && packageNamePart.test(first.slice(1)) && packageNamePart.test(second);
}

/** The name and the range of `@acme/jira@^1.2`. */
export function splitSpec(spec: string): { name: string; range: string | undefined } {
  const at = spec.indexOf("@", 1);
  return at < 0 ? { name: spec, range: undefined } : { name: spec.slice(0, at), range: spec.slice(at + 1) };
}

/** `acme/jira` for `@acme/jira`; a name without scope stays. */
export function qualifyPackageName(packageName: string): string {
  return packageName.startsWith("@") ? packageName.slice(1) : packageName;
}
