/** Extensions of definition files, in order of preference. */
export const formats = ["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"] as const;

export type Format = (typeof formats)[number];

const dataFormats: ReadonlySet<Format> = new Set<Format>(["json", "yaml", "yml"]);
const typeScriptFormats: ReadonlySet<Format> = new Set<Format>(["ts", "mts"]);

export const isData = (format: Format): boolean => dataFormats.has(format);
export const isTypeScript = (format: Format): boolean => typeScriptFormats.has(format);

/** Splits a file name at the last dot. */
export function splitFileName(fileName: string): { base: string; suffix: string } {
  const dot = fileName.lastIndexOf(".");
  return dot < 0
    ? { base: fileName, suffix: "" }
    : { base: fileName.slice(0, dot), suffix: fileName.slice(dot + 1) };
}

export function isFormat(suffix: string): suffix is Format {
  return (formats as readonly string[]).includes(suffix);
}
