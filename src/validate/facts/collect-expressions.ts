import { isRecord } from "../../data/parse-json.ts";
import { compileEntryTemplates, templateKeys } from "../../expressions/bundle-templates.ts";
import { describePosition } from "../../expressions/expression-engine.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";

/** An expression of a bundle that does not compile, with its path from the definition's top. */
export interface ExpressionFault {
  item: InspectedItem;
  expression: string;
  /** Includes the position in the expression. Continues after a colon. */
  reason: string;
  path: Path;
}

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

/** Compiles every expression in the bundles of a pack, as a server would. Loads the compiler on demand. */
export async function collectExpressions(items: readonly InspectedItem[]): Promise<ExpressionFault[]> {
  const faults: ExpressionFault[] = [];
  for (const item of items) {
    for (const { entry, path } of findEntries(item)) {
      const { createCelEngine } = await import("../../expressions/cel-engine.ts");
      compileEntryTemplates(entry, {
        engine: createCelEngine(),
        path,
        onFault: ({ expression, reason, offset, path: at }) =>
          faults.push({
            item,
            expression,
            reason: `${reason}${describePosition(expression, offset)}`,
            path: at,
          }),
      });
    }
  }
  return faults;
}
