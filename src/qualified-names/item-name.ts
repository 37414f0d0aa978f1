/** The characters of an item's name: 1 to 64, the first a letter or digit. */
const characters = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Names that Windows reserves for devices, with or without an ending. */
const deviceName = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?$/i;

/** Keys that mean something else on a JavaScript object than what a pack would put there. */
const reservedItemNames: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Why a text cannot be the name of an item; `undefined` if it can. */
export function whyInvalidItemName(name: string): string | undefined {
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
