/** Extensions of definition files, in order of preference. */
export const formats = ["json", "yaml", "yml", "mjs", "js", "cjs", "ts", "mts"] as const;

export type Format = (typeof formats)[number];

export const isData = (format: Format): boolean => ["json", "yaml", "yml"].includes(format);
export const isTypeScript = (format: Format): boolean => format === "ts" || format === "mts";

export const isFormat = (suffix: string): suffix is Format => (formats as readonly string[]).includes(suffix);

/** Splits a file name at the last dot. */
export function splitFileName(fileName: string): { base: string; suffix: string } {
  const dot = fileName.lastIndexOf(".");
  return dot < 0
    ? { base: fileName, suffix: "" }
    : { base: fileName.slice(0, dot), suffix: fileName.slice(dot + 1) };
}
