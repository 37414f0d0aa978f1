import { isRecord } from "../data/parse-json.ts";
import { placeInItems } from "../inspection/place-problems.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { type BundleEntry, compileBundle } from "./bundle.ts";
import type { CodePlace } from "./tool-code.ts";
import type { CodeOwner } from "./tool-source.ts";

/** The code that a tool or an entry of a bundle runs: a module's function, or another tool's. */
export interface ToolCode {
  owner: CodeOwner;
  handler: CodePlace;
  initialize: CodePlace | undefined;
  options: Readonly<Record<string, unknown>>;
  /** The tool's schemas; `undefined` for a module's function. */
  inputSchema: Readonly<Record<string, unknown>> | undefined;
  outputSchema: Readonly<Record<string, unknown>> | undefined;
}

/** A tool that the host runs, ready to be called. */
export interface RunnableTool {
  code: ToolCode;
  /** Set for an entry of a bundle, whose schemas then apply. */
  entry?: BundleEntry;
}

/** An entry of a bundle, ready to be called. */
export type BundleTool = Required<RunnableTool>;

/**
 * Compiles a bundle of a pack. `findTool` returns the code of the tool that a reference names, or a problem. A bundle
 * with an error offers no tools.
 */
export async function createBundleTools(
  item: InspectedItem,
  { pack, texts }: Pick<InspectedPack, "pack" | "texts">,
  owner: CodeOwner,
  findTool: (reference: string) => ToolCode | Problem,
): Promise<{ tools: BundleTool[]; problems: Problem[] }> {
  const { createCelEngine } = await import("../expressions/cel-engine.ts");
  const { entries, faults } = compileBundle(item.definition ?? {}, { engine: createCelEngine() });
  const problems: Problem[] = faults.map(({ expression, reason, path }) =>
    createProblem("InvalidExpression", { expression, reason }, { path }),
  );
  const tools = entries.flatMap((entry, index): BundleTool[] => {
    const { handler } = entry;
    const own = {
      owner,
      initialize: undefined,
      options: {},
      inputSchema: undefined,
      outputSchema: undefined,
    };
    if (handler.from === "module") {
      const source = { from: "module", handler: handler.handler } as const;
      return [{ entry, code: { ...own, handler: { root: owner.root, source } } }];
    }
    if (handler.from === "definition") {
      if (item.file === null) return [];
      const path = [...item.base.map(String), ...handler.path];
      const source = { from: "definition", file: item.file, path } as const;
      return [{ entry, code: { ...own, handler: { root: owner.root, source } } }];
    }
    const code = findTool(handler.reference);
    if ("code" in code) {
      problems.push({ ...code, path: ["entries", index, "handler"] });
      return [];
    }
    return [{ entry, code }];
  });
  const isBroken = problems.some(({ severity }) => severity === "error");
  const findings = problems.map((problem) => ({ item, problem }));
  return { tools: isBroken ? [] : tools, problems: await placeInItems({ pack, texts }, findings) };
}

/** The names of a bundle's entries as written, for messages about a bundle that cannot be used. */
export function entryNamesOf({ definition }: InspectedItem): string[] {
  const entries = Array.isArray(definition?.entries) ? definition.entries.filter(isRecord) : [];
  return entries.map(({ name }) => String(name));
}
