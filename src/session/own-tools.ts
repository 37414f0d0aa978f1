import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { readSchema } from "../json-schema/read-schema.ts";
import { createProblem, type Path, type Problem, printable, quote } from "../problems/index.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import { addTool, type Contribution, contribute, refuseReserved } from "./tool-candidates.ts";

/** A built-in and where it is defined. */
export interface OwnTool {
  definition: BuiltInDefinition;
  /** Path in the config; `undefined` for one of the session's options. */
  path: Path | undefined;
}

/** The first problem in a built-in's schemas. */
function findOwnSchemaFault({ inputSchema, outputSchema }: BuiltInDefinition): Problem | undefined {
  for (const [key, schema] of Object.entries({ inputSchema, outputSchema })) {
    if (!isRecord(schema)) continue;
    const reserved = key === "inputSchema" ? refuseReserved(schema) : undefined;
    if (reserved !== undefined) return { ...reserved, path: [key, ...(reserved.path ?? [])] };
    const [fault] = readSchema(schema).faults;
    if (fault === undefined) continue;
    const where = fault.path.join(".");
    const reason = where === "" ? `it ${fault.what}` : `\`${printable(where)}\` ${fault.what}`;
    return createProblem("InvalidInputSchema", { key, reason }, { path: [key, ...fault.path] });
  }
  return undefined;
}

/** The built-ins, whose modules are in the config's folder. `handlerFaults`: problems with their handlers, by definition. */
export function collectOwnTools(
  tools: readonly OwnTool[],
  config: SessionConfig,
  handlerFaults: ReadonlyMap<object, Problem>,
): Contribution {
  const contribution = contribute();
  const owner: CodeOwner = { pack: undefined, root: config.directory };
  for (const { definition, path } of tools) {
    const name = String(definition.name);
    const isInFile = path !== undefined && config.file !== undefined;
    const source: ToolSource = {
      type: "builtIn",
      item: name,
      ...(isInFile ? { file: config.file as string } : {}),
    };
    // A problem's place has no key for a built-in.
    const report = ({ path: inside = [], ...problem }: Problem) => {
      const message = `Tool ${quote(name)}: ${problem.message}`;
      contribution.problems.push({
        ...problem,
        message,
        ...(path === undefined ? {} : { path: [...path, ...inside] }),
      });
    };
    const fault = findOwnSchemaFault(definition) ?? handlerFaults.get(definition);
    if (fault !== undefined) {
      report(fault);
      contribution.skipped.push({ name, source, reason: "Invalid", message: fault.message });
      continue;
    }
    const tool = {
      name,
      qualifiedName: name,
      source,
      definition: definition as object as Record<string, unknown>,
      owner,
    };
    if (addTool(contribution, tool, config))
      for (const problem of readToolMeta(definition._meta).problems) report(problem);
  }
  return contribution;
}
