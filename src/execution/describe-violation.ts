import { listOf, printable, quote } from "../problems/text.ts";
import { writePointer } from "./write-pointer.ts";

/** The part of ajv's error object that is read here. */
export interface Violation {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string | undefined;
}

const longestPath = 200;
const mostChoices = 10;

const shorten = (text: string) =>
  text.length > longestPath ? `${printable(text.slice(0, longestPath))}…` : printable(text);

function listChoices(values: unknown): string {
  const choices = (Array.isArray(values) ? values : []).map((value) =>
    typeof value === "string" ? quote(value, 40) : shorten(JSON.stringify(value)),
  );
  return choices.length > mostChoices ? `${choices.slice(0, mostChoices).join(", ")}, …` : listOf(choices);
}

/** One violation as `<JSON pointer> <what is wrong>`: `/summary is required`, `/count must be integer`. */
export function describeViolation({ keyword, instancePath, params, message }: Violation): string {
  const at = (name: unknown) => shorten(`${instancePath}${writePointer([String(name)])}`);
  const here = instancePath === "" ? "" : `${shorten(instancePath)} `;
  switch (keyword) {
    case "required":
      return `${at(params.missingProperty)} is required`;
    case "additionalProperties":
      return `${at(params.additionalProperty)} is not allowed`;
    case "unevaluatedProperties":
      return `${at(params.unevaluatedProperty)} is not allowed`;
    case "enum":
      return `${here}must be one of ${listChoices(params.allowedValues)}`;
    case "const":
      return `${here}must be ${listChoices([params.allowedValue])}`;
    case "pattern":
      return `${here}must match the pattern ${quote(String(params.pattern))}`;
    case "false schema":
      return `${here}is not allowed`;
    default:
      return `${here}${message === undefined ? "does not fit" : shorten(message)}`;
  }
}
