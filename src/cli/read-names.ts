/** The names in an option's value, which are separated by commas. */
export function readNames(value: unknown): string[] {
  const names = typeof value === "string" ? value.split(",") : [];
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
