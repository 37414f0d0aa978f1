import { printable } from "../problems/text.ts";
import type { TextStyle } from "./command.ts";
import { formatColumns } from "./layout.ts";
import { shortenForPeople } from "./shorten-for-people.ts";

/**
 * Rows under headings, the last column wrapped to the terminal. Cells may be text from packs: what does not print is
 * escaped.
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { color, width }: TextStyle,
): string {
  const cells = rows.map((row) => row.map((cell) => printable(shortenForPeople(cell))));
  const paint = (heading: string) => (color ? `\u001b[2m${heading}\u001b[22m` : heading);
  return formatColumns([headings.map(paint), ...cells], width);
}
