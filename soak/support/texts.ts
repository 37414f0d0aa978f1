import type { Random } from "../../bench/support/random.ts";

const pieces = [
  "plain ",
  "two\nlines",
  "\r\n",
  "\t",
  '"quoted"',
  "\\u0041\\",
  "ünïcödé",
  "日本語",
  "🚀",
  "\u2028",
  "\u0000",
  "\u001b[31m",
  "\u202e",
  "${{ 1 + 1 }}",
  "</script>",
  " ",
];

/** A text of at most so many pieces, with all that is hard to pass on. */
export function makeText(random: Random, most: number): string {
  return Array.from({ length: random.between(0, most) }, () => random.pick(pieces)).join("");
}
