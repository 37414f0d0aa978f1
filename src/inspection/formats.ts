/** Endings of definition files, in the order in which one is preferred to another. */
export const formats = ["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"] as const;

export type Format = (typeof formats)[number];

const dataFormats: ReadonlySet<Format> = new Set<Format>(["json", "yaml", "yml"]);
const typeScriptFormats: ReadonlySet<Format> = new Set<Format>(["ts", "mts"]);

export const isData = (format: Format): boolean => dataFormats.has(format);
export const isTypeScript = (format: Format): boolean => typeScriptFormats.has(format);

/** A file name in its two parts; the ending is what follows the last dot. */
export function splitFileName(fileName: string): { base: string; ending: string } {
  const dot = fileName.lastIndexOf(".");
  return dot < 0
    ? { base: fileName, ending: "" }
    : { base: fileName.slice(0, dot), ending: fileName.slice(dot + 1) };
}

export function isFormat(ending: string): ending is Format {
  return (formats as readonly string[]).includes(ending);
}
