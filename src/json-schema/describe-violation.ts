import type { ErrorObject } from "ajv";
import { listOf, printable, quote } from "../problems/text.ts";

const longestPath = 200;
const mostChoices = 10;
const mostTexts = 10;
/** Nested alternatives may have many. */
const mostErrors = 1000;

const shorten = (text: string) =>
  text.length > longestPath ? `${printable(text.slice(0, longestPath))}…` : printable(text);

const writeChoice = (value: unknown) =>
  typeof value === "string" ? quote(value.slice(0, longestPath), 40) : shorten(JSON.stringify(value));

/** Lists the allowed values. */
export function listChoices(values: readonly unknown[]): string {
  const choices = values.slice(0, mostChoices).map(writeChoice);
  return values.length > mostChoices ? `${choices.join(", ")}, …` : listOf(choices);
}

const writeKey = (key: unknown) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Formats a violation: `/summary is required`, `/count must be integer`. */
export function describeError({ keyword, params, instancePath, message }: ErrorObject): string {
  const extra = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty;
  const isExtra = ["required", "additionalProperties", "unevaluatedProperties"].includes(keyword);
  const pointer = isExtra ? instancePath + writeKey(extra) : instancePath;
  const words: Readonly<Record<string, () => string>> = {
    required: () => "is required",
    additionalProperties: () => "is not allowed",
    unevaluatedProperties: () => "is not allowed",
    "false schema": () => "is not allowed",
    const: () => `must be ${listChoices([params.allowedValue])}`,
    enum: () => `must be one of ${listChoices(params.allowedValues)}`,
    pattern: () => `must match the pattern ${quote(params.pattern)}`,
  };
  const what = words[keyword]?.() ?? message ?? "";
  return pointer === "" ? what : `${shorten(pointer)} ${what}`;
}

/** Joins the messages of ajv's errors without duplicates. `missing`: the properties that the value itself must have. */
export function describeErrors(errors: readonly ErrorObject[] | null | undefined) {
  const first = (errors ?? []).slice(0, mostErrors);
  const texts = [...new Set(first.map(describeError))];
  const rest = texts.length - mostTexts;
  const missing = first
    .filter(({ keyword, instancePath }) => keyword === "required" && instancePath === "")
    .map(({ params }) => String(params.missingProperty));
  return {
    message: texts.slice(0, mostTexts).join("; ") + (rest > 0 ? `; and ${rest} more` : ""),
    missing: [...new Set(missing)],
  };
}

/** The message for a check that was stopped. */
export const describeStop = (what: string, stopped: string) =>
  `The check of ${what} was stopped: ${stopped}.`;
