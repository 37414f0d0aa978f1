import { shorten } from "../problems/text.ts";

/** A text from a pack, cut if it is long, with a note that `--json` shows all of it. */
export function shortenForPeople(text: string, limit?: number): string {
  return shorten(text, limit, "; --json shows all");
}
