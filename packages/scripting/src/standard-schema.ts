// Schemas of zod and other libraries work without importing them, by what Standard Schema and Standard JSON Schema say.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";

/** A schema of a library: zod from 4.2, or another one that implements Standard JSON Schema. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & {
    readonly jsonSchema?: StandardJSONSchemaV1.Converter;
  };
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  const standard: unknown = (value as Partial<StandardSchema>)["~standard"];
  return (
    typeof standard === "object" &&
    standard !== null &&
    typeof (standard as { validate?: unknown }).validate === "function"
  );
}

/** The JSON Schema of a library's schema, as plain data. Throws a `TypeError` unless its type is object. */
export function toJsonSchema(
  schema: StandardSchema,
  direction: "input" | "output",
  key: string,
): Record<string, unknown> & { type: "object" } {
  const { vendor, jsonSchema } = schema["~standard"];
  if (typeof jsonSchema?.[direction] !== "function") {
    const version = vendor === "zod" ? " zod supports this from 4.2." : "";
    throw new TypeError(
      `\`${key}\`: this version of ${vendor} cannot convert its schemas to JSON Schema.${version} Use a newer one, or pass JSON Schema.`,
    );
  }
  // Through JSON, because libraries attach more than data.
  const written = JSON.parse(JSON.stringify(jsonSchema[direction]({ target: "draft-2020-12" })));
  if ((written as { type?: unknown } | null)?.type !== "object") {
    throw new TypeError(`\`${key}\` must be the schema of an object.`);
  }
  return written;
}

const stepOf = (step: PropertyKey | StandardSchemaV1.PathSegment): string =>
  String(typeof step === "object" ? step.key : step)
    .replaceAll("~", "~0")
    .replaceAll("/", "~1");

const describeIssue = ({ path = [], message }: StandardSchemaV1.Issue): string =>
  `${path.map((step) => `/${stepOf(step)}`).join("")} ${message}`.trim();

/** Parses a value with the schema. Throws an error whose message has the place of each issue. */
export async function parseWith<Output>(
  schema: StandardSchema<unknown, Output>,
  value: unknown,
): Promise<Output> {
  const outcome = await schema["~standard"].validate(value);
  if (outcome.issues === undefined) return outcome.value;
  throw new Error(outcome.issues.slice(0, 10).map(describeIssue).join("; "));
}
