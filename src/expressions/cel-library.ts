// What expressions can do beyond cel-js: JSON numbers mix with ints, patterns do not backtrack, results are JSON.
import { Environment, EvaluationError, Optional } from "@marcbachmann/cel-js";
import { Duration } from "@marcbachmann/cel-js/evaluator";
import { compilePattern, findPattern, type LinearPattern } from "../json-schema/patterns/linear-pattern.ts";
import { PatternError } from "../json-schema/patterns/parse-pattern.ts";

/** Functions of cel-js and what is called in their place. */
export const replacedFunctions: ReadonlyMap<string, string> = new Map([
  ["matches", "matches_"],
  // Those of cel-js change letters beyond ASCII.
  ["lowerAscii", "lowerAscii_"],
  ["upperAscii", "upperAscii_"],
  // That of cel-js depends on the daylight saving time of this machine.
  ["getDayOfYear", "getDayOfYear_"],
  // JSON has no unsigned numbers.
  ["uint", "int"],
]);

/** Compiles a pattern of `matches`. Throws `EvaluationError`. */
export function compileMatch(pattern: string): LinearPattern {
  try {
    return compilePattern(pattern);
  } catch (error) {
    throw error instanceof PatternError ? new EvaluationError(error.message) : error;
  }
}

function getDayOfYear(time: Date): bigint {
  const start = Date.UTC(time.getUTCFullYear(), 0, 1);
  return BigInt(Math.floor((time.getTime() - start) / 86_400_000));
}

/** `5400s`, as in the JSON of protobuf. */
const formatDuration = (duration: Duration) => `${duration.valueOf() / 1000}s`;

function toJsonNumber(value: number | bigint): number {
  const number = Number(value);
  if (typeof value === "bigint" ? Number.isSafeInteger(number) : Number.isFinite(number)) {
    // JSON has no negative zero.
    return number + 0;
  }
  throw new EvaluationError(
    typeof value === "bigint"
      ? `${value} is too large for a JSON number; use string(…)`
      : `a JSON number cannot be ${value}`,
  );
}

/** Copies a value to JSON. Throws `EvaluationError` for values that JSON cannot represent exactly. */
export function toJson(value: unknown): unknown {
  if (typeof value === "bigint" || typeof value === "number") return toJsonNumber(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((element) => toJson(element));
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, member]) => [key, toJson(member)]));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Optional) {
    if (value.hasValue()) return toJson(value.value());
    throw new EvaluationError("an optional value is absent; use orValue(…)");
  }
  // A type.
  if ("name" in value) return String(value.name);
  throw new EvaluationError("it has no value in JSON");
}

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/** Creates the environment of all expressions. `patterns` are compiled ones. */
export function createEnvironment(patterns: ReadonlyMap<string, LinearPattern>): Environment {
  const environment = new Environment({
    unlistedVariablesAreDyn: true,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxAstNodes: 5000, maxDepth: 100, maxCallArguments: 16 },
  });
  for (const [operator, calculate] of Object.entries(arithmetic)) {
    const mix = (a: number | bigint, b: number | bigint) => calculate(Number(a), Number(b));
    environment.registerOperator(`int ${operator} double: double`, mix);
    environment.registerOperator(`double ${operator} int: double`, mix);
  }
  environment.registerOperator("double % double: double", (a: number, b: number) => a % b);
  environment.registerOperator(
    "-google.protobuf.Duration",
    ({ seconds, nanos }: Duration) => new Duration(-seconds, -nanos),
  );
  const matches = (text: string, pattern: string) => {
    const compiled = patterns.get(pattern) ?? compileMatch(pattern);
    return findPattern(compiled, text);
  };
  const replace = (text: string, part: string, by: string, limit = -1n) => {
    const parts = text.split(part);
    const rest = limit < 0 ? [] : parts.splice(Number(limit) + 1);
    return [parts.join(by), ...rest].join(part);
  };
  const functions: Readonly<Record<string, (...values: never[]) => unknown>> = {
    "matches_(string, string): bool": matches,
    "string.matches_(string): bool": matches,
    "string.lowerAscii_(): string": (text: string) => text.replace(/[A-Z]+/g, (run) => run.toLowerCase()),
    "string.upperAscii_(): string": (text: string) => text.replace(/[a-z]+/g, (run) => run.toUpperCase()),
    "string.replace(string, string): string": replace,
    "string.replace(string, string, int): string": replace,
    "string(google.protobuf.Duration): string": formatDuration,
    "string(google.protobuf.Timestamp): string": (time: Date) => time.toISOString(),
    "int(google.protobuf.Timestamp): int": (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
    "timestamp(double): google.protobuf.Timestamp": (seconds: number) => new Date(seconds * 1000),
    "google.protobuf.Timestamp.getDayOfYear_(): int": getDayOfYear,
  };
  for (const [signature, apply] of Object.entries(functions))
    environment.registerFunction(signature, apply, { async: false });
  return environment;
}
