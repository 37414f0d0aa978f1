import { carryIntegers, parseExactly, stringifyExactly } from "../../data/exact-integers.ts";
import { describeType, isRecord } from "../../data/parse-json.ts";
import { legacyContextKey } from "../../runtime/handler-context.ts";

/** The arguments of a call as JSON text and as a copy of the value, or why they are invalid. */
export type CopiedArguments = { json: string; args: Record<string, unknown> } | { fault: string };

const isPlain = (value: object) => [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** The own properties but one; the object itself if it has no more. */
function withoutContext(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (isPlain(given) && !Object.hasOwn(given, legacyContextKey)) return given;
  const { [legacyContextKey]: _, ...written } = given;
  return carryIntegers(given, written);
}

/** Copies a call's arguments through JSON, so that every tool gets the same values wherever it runs. */
export function copyArguments(given: unknown): CopiedArguments {
  if (given !== undefined && !isRecord(given)) {
    return { fault: `The arguments must be an object, but they are ${describeType(given)}.` };
  }
  try {
    const written = withoutContext(given ?? {});
    const json: string | undefined = stringifyExactly(written);
    const args: unknown = json === undefined ? undefined : parseExactly(json);
    // `toJSON` can return something else than an object.
    if (json !== undefined && isRecord(args)) return { json, args };
    return { fault: `The arguments must be an object, but their JSON is ${describeType(args)}.` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `The arguments cannot be written as JSON: ${reason}` };
  }
}
