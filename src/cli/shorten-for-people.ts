import { shorten } from "../problems/text.ts";

/** A text of others as people are shown it: cut where it is long, with a note that names the way to all of it. */
export function shortenForPeople(text: string, limit?: number): string {
  return shorten(text, limit, "; --json shows all");
}
