/** The texts and numbers among a problem's arguments, one after the other: what its words are made of. */
export function argumentTexts(args: unknown): string {
  if (typeof args !== "object" || args === null) return String(args);
  return Object.values(args).map(argumentTexts).join(" ");
}
