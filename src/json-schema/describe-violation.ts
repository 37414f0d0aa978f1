import { writePointer } from "../extension-schema/pointer.ts";
import { listOf, printable, quote } from "../problems/text.ts";

/** A violation of a schema. */
export interface Violation {
  /** The path of the value, or of the property that is missing or not allowed. */
  path: readonly (string | number)[];
  /** Continues after the path, without a period. */
  what: string;
  /** Whether a required property is missing. */
  isMissing: boolean;
}

const longestPath = 200;
const mostChoices = 10;
const mostViolations = 10;

const cut = (text: string) => text.slice(0, longestPath + 1);

const shorten = (text: string) =>
  text.length > longestPath ? `${printable(text.slice(0, longestPath))}…` : printable(text);

const writeChoice = (value: unknown) =>
  typeof value === "string" ? quote(cut(value), 40) : shorten(JSON.stringify(value));

/** Lists the allowed values. */
export function listChoices(values: readonly unknown[]): string {
  const choices = values.slice(0, mostChoices).map(writeChoice);
  return values.length > mostChoices ? `${choices.join(", ")}, …` : listOf(choices);
}

/** Formats a violation: `/summary is required`, `/count must be integer`. */
export function describeViolation({ path, what }: Violation): string {
  // A key can be as long as the whole value.
  const pointer = writePointer(path.map((key) => cut(String(key))));
  return pointer === "" ? what : `${shorten(pointer)} ${what}`;
}

/** Joins the messages of violations without duplicates. */
export function describeViolations(violations: readonly Violation[]): string {
  const texts = [...new Set(violations.map(describeViolation))];
  const rest = texts.length - mostViolations;
  return texts.slice(0, mostViolations).join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}

/** The message for a check that was stopped. */
export const describeStop = (what: string, stopped: string) =>
  `The check of ${what} was stopped: ${stopped}.`;
