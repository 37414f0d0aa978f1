import { writePointer } from "../extension-schema/pointer.ts";
import { listOf, printable, quote } from "../problems/text.ts";

/** What a value breaks of a schema. */
export interface Violation {
  /** Keys from the top of what was checked to the value, or to the property that is missing or not allowed. */
  path: readonly (string | number)[];
  /** The end of a sentence about it. */
  what: string;
  /** Whether it is a required property that is missing. */
  isMissing: boolean;
}

const longestPath = 200;
const mostChoices = 10;

const cut = (text: string) => text.slice(0, longestPath + 1);

const shorten = (text: string) =>
  text.length > longestPath ? `${printable(text.slice(0, longestPath))}…` : printable(text);

const writeChoice = (value: unknown) =>
  typeof value === "string" ? quote(cut(value), 40) : shorten(JSON.stringify(value));

/** Values of which one is wanted. */
export function listChoices(values: readonly unknown[]): string {
  const choices = values.slice(0, mostChoices).map(writeChoice);
  return values.length > mostChoices ? `${choices.join(", ")}, …` : listOf(choices);
}

/** One violation as `<JSON pointer> <what is wrong>`: `/summary is required`, `/count must be integer`. */
export function describeViolation({ path, what }: Violation): string {
  // A key can be as long as the whole value.
  const pointer = writePointer(path.map((key) => (typeof key === "string" ? cut(key) : key)));
  return pointer === "" ? what : `${shorten(pointer)} ${what}`;
}
