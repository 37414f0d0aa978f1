import { isRecord } from "../data/parse-json.ts";
import { findTemplates } from "../expressions/find-templates.ts";
import type { InspectedItem, Path } from "./types.ts";

/** An expression of a bundle that does not compile, and where it stands from the definition's top. */
export interface ExpressionFault {
  item: InspectedItem;
  expression: string;
  reason: string;
  path: Path;
}

/** The keys of a bundle's entry whose texts hold templates. */
const templateKeys = ["inputs", "result", "catches"];

/** Every text in a value, with its path; the depth of definitions is bounded by their parser. */
function* findTexts(value: unknown, path: Path): Generator<{ text: string; path: Path }> {
  if (typeof value === "string") yield { text: value, path };
  else if (Array.isArray(value)) {
    for (const [index, entry] of value.entries()) yield* findTexts(entry, [...path, index]);
  } else if (isRecord(value)) {
    for (const [key, entry] of Object.entries(value)) yield* findTexts(entry, [...path, key]);
  }
}

function* findBundleTexts({ shape, definition }: InspectedItem): Generator<{ text: string; path: Path }> {
  if (shape !== "toolsBundle" || !Array.isArray(definition?.entries)) return;
  for (const [index, entry] of definition.entries.entries()) {
    if (!isRecord(entry)) continue;
    for (const key of templateKeys) yield* findTexts(entry[key], ["entries", index, key]);
  }
}

/** Compiles every expression in the bundles of a pack; the compiler is loaded only if there is one. */
export async function gatherExpressions(items: readonly InspectedItem[]): Promise<ExpressionFault[]> {
  const faults: ExpressionFault[] = [];
  for (const item of items) {
    for (const { text, path } of findBundleTexts(item)) {
      const { templates, unclosed } = findTemplates(text);
      if (unclosed !== undefined) {
        faults.push({ item, expression: text.slice(unclosed), reason: "}} is missing at its end", path });
      }
      for (const { expression } of templates) {
        const { whyNotCompiled } = await import("../expressions/compile-expression.ts");
        const reason = whyNotCompiled(expression);
        if (reason !== undefined) faults.push({ item, expression, reason, path });
      }
    }
  }
  return faults;
}
