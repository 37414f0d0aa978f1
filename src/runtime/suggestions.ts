import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { CodeUse } from "./pack-resource.ts";
import { placeOfCode } from "./tool-code.ts";
import type { CodeOwner } from "./tool-source.ts";

/** How long suggestions may take: users wait for them while they type. Milliseconds. */
export const suggestionMs = 5000;

/** Whether a prompt or a template suggests values for an argument. */
export const makesSuggestions = ({ definition }: InspectedItem): boolean =>
  isRecord(definition?.complete) && Object.keys(definition.complete).length > 0;

/**
 * The values that a prompt or a template suggests for an argument, as `complete` of its definition says. Rejects with the
 * message of its function, or if that takes too long.
 */
export async function suggestValues(
  item: InspectedItem,
  owner: CodeOwner,
  {
    argument,
    value,
    arguments: given,
  }: {
    argument: string;
    value: string;
    arguments: Readonly<Record<string, string>>;
  },
  { runner, context }: CodeUse,
  ms = suggestionMs,
): Promise<readonly unknown[]> {
  const complete = item.definition?.complete;
  const source = isRecord(complete) && Object.hasOwn(complete, argument) ? complete[argument] : undefined;
  if (Array.isArray(source)) {
    const typed = value.toLowerCase();
    return source.filter((one) => typeof one === "string" && one.toLowerCase().startsWith(typed));
  }
  const place = placeOfCode(source, owner.root, ["complete", argument], item);
  if (place === undefined) return [];
  const late = AbortSignal.timeout(ms);
  const signal = AbortSignal.any([context.signal, late]);
  const invoked = (await runner()).invoke(place, value, { ...context, signal, arguments: given });
  const outcome = await invoked.catch((error) => {
    throw late.aborted ? new Error(`The suggestions took longer than ${ms} ms.`) : error;
  });
  if ("thrown" in outcome) throw new Error(outcome.thrown.message);
  const values = outcome.returned.kind === "json" ? JSON.parse(outcome.returned.json) : undefined;
  if (!Array.isArray(values)) throw new Error("The function must return an array of strings.");
  return values;
}
