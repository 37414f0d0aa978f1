const devices = ["con", "prn", "aux", "nul"].map(anyCase);
const numberedDevices = ["com", "lpt"].map((name) => `${anyCase(name)}[0-9]`);

function anyCase(word: string): string {
  return word.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}

/** JSON Schema patterns have no flags, so this repeats the rule of `explainInvalidItemName`; a test compares the two. */
export const itemNamePattern = new RegExp(
  "^(?!(?:__proto__|constructor|prototype)$)" +
    `(?!(?:${[...devices, ...numberedDevices].join("|")})(?:\\..*)?$)(?!.*\\.$)` +
    "[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
);
