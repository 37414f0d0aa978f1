import { isRecord } from "../../data/parse-json.ts";
import { stringsIn } from "../../data/strings-in.ts";
import { compileEntryTemplates, templateKeys } from "../../expressions/bundle-templates.ts";
import { describePosition } from "../../expressions/expression-engine.ts";
import { unclosedPlacesFor } from "../../extension-schema/prompt-messages.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";

function* findEntries({
  shape,
  definition,
}: InspectedItem): Generator<{ entry: Record<string, unknown>; path: Path }> {
  if (shape !== "toolsBundle" || !Array.isArray(definition?.entries)) return;
  for (const [index, entry] of definition.entries.entries()) {
    if (isRecord(entry) && templateKeys.some((key) => Object.hasOwn(entry, key)))
      yield { entry, path: ["entries", index] };
  }
}

/** A placeholder for an argument. `${{ … }}` is an expression instead. */
const place = /(?<!\$)\{\{\s*([\w-]+)\s*\}\}/g;

/** Limit on the reported placeholders of one prompt. */
const maximumReported = 100;

/** The names of declared arguments in order; `undefined` if they are not valid. */
function readNames({ definition }: InspectedItem): string[] | undefined {
  const list = definition?.arguments ?? [];
  if (!Array.isArray(list)) return undefined;
  const names = list.map((one: unknown) => (isRecord(one) ? one.name : undefined));
  return names.every((name) => typeof name === "string") ? names : undefined;
}

function* checkDuplicates(item: InspectedItem, names: readonly string[]): Generator<Finding> {
  const seen = new Set<string>();
  for (const [index, name] of names.entries()) {
    if (seen.has(name)) {
      const reason = `the argument ${quote(name)} is declared twice`;
      yield findInItem(item, "InvalidPromptDefinition", { reason }, ["arguments", index, "name"]);
    }
    seen.add(name);
  }
}

function* checkPlaces(item: InspectedItem, names: readonly string[]): Generator<Finding> {
  const known = new Set(names);
  const reported = new Set<string>();
  for (const { text, path } of stringsIn(item.definition?.content, ["content"])) {
    for (const [, name = ""] of text.matchAll(place)) {
      if (known.has(name) || reported.has(name) || reported.size >= maximumReported) continue;
      reported.add(name);
      const [nearest] = findNearestNames(name, names);
      const reason = `its content has a placeholder for ${quote(name)}, which is not in \`arguments\``;
      const hint =
        nearest === undefined
          ? "Declare the argument, or remove the placeholder."
          : `Did you mean {{${nearest}}}?`;
      yield findInItem(item, "InvalidPromptDefinition", { reason, hint }, path);
    }
  }
}

/** Finds placeholders for declared arguments that lack the second closing brace. */
function* checkUnclosed(item: InspectedItem, names: readonly string[]): Generator<Finding> {
  const unclosed = unclosedPlacesFor(names);
  if (unclosed === undefined) return;
  const pending = new Set(names);
  for (const { text, path } of stringsIn(item.definition?.content, ["content"])) {
    for (const [, name = ""] of text.matchAll(unclosed)) {
      if (!pending.delete(name)) continue;
      const reason = `the placeholder for ${quote(name)} in its content lacks a closing brace`;
      yield findInItem(item, "InvalidPromptDefinition", { reason, hint: `Write {{${name}}}.` }, path);
    }
  }
}

/** Checks that placeholders are valid and that each argument is declared once. */
export const checkPromptArguments: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const names = item.shape === "prompt" ? readNames(item) : undefined;
    if (names === undefined) continue;
    yield* checkDuplicates(item, names);
    yield* checkPlaces(item, names);
    yield* checkUnclosed(item, names);
  }
};

/** Checks that every `${{ … }}` of a bundle compiles, as a server would. Loads the compiler on demand. */
export const checkExpressions: Check = async function* ({ inspected }) {
  const findings: Finding[] = [];
  for (const item of inspected.items) {
    for (const { entry, path } of findEntries(item)) {
      const { createCelEngine } = await import("../../expressions/cel-engine.ts");
      compileEntryTemplates(entry, {
        engine: createCelEngine(),
        path,
        onFault({ expression, reason, offset, path: at }) {
          const args = { expression, reason: `${reason}${describePosition(expression, offset)}` };
          findings.push(findInItem(item, "InvalidExpression", args, at));
        },
      });
    }
  }
  yield* findings;
};
