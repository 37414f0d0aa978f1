import type { SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { findReservedParameters, reservedParameter } from "../json-schema/reserved-parameters.ts";
import { createProblem, type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { createBundleTools, entryNamesOf, type ToolCode } from "../runtime/bundle.ts";
import { createPackResource } from "../runtime/pack-resource.ts";
import { describeSource } from "../runtime/server-launches.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-code.ts";
import { placeOfCode, readOptions } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeUnusable } from "./excluded.ts";
import { createPackPrompt, type PromptCandidate, readPromptTexts } from "./session-prompts.ts";
import { describeResource, type ResourceCandidate, type ResourceListing } from "./session-reads.ts";
import type { SessionTool, Skipped, ToolCandidate } from "./session-tool.ts";

/** What one source contributes to a session. */
export interface Contribution {
  candidates: ToolCandidate[];
  skipped: Skipped[];
  prompts: PromptCandidate[];
  skippedPrompts: Skipped[];
  resources: ResourceCandidate[];
  problems: Problem[];
}

export const contribute = (given: Partial<Contribution> = {}): Contribution => ({
  candidates: [],
  skipped: [],
  prompts: [],
  skippedPrompts: [],
  resources: [],
  problems: [],
  ...given,
});

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

/** The tool as users of the session see it. */
export function describeTool(
  name: string,
  qualifiedName: string | null,
  source: ToolSource,
  definition: object,
  { isForLlm, isRecordable }: { isForLlm: boolean; isRecordable: boolean },
): SessionTool {
  const { title, description, inputSchema, outputSchema, annotations } = definition as Record<
    string,
    unknown
  >;
  return {
    name,
    qualifiedName,
    source,
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    inputSchema: { ...(isRecord(inputSchema) ? inputSchema : {}), type: "object" },
    ...(isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? { outputSchema } : {}),
    ...(isRecord(annotations) ? { annotations } : {}),
    isForLlm,
    isRecordable,
    toolsets: [],
  };
}

/** A tool of a pack or a built-in, and where it is defined. */
interface DefinedTool {
  name: string;
  qualifiedName: string;
  source: ToolSource;
  definition: Readonly<Record<string, unknown>>;
  owner: CodeOwner;
  item?: InspectedItem;
}

/** Adds a tool with the options that the config has for it, and tells of those that it does not declare. Returns whether it has a handler. */
export function addTool(
  { candidates, problems }: Contribution,
  { name, qualifiedName, source, definition, owner, item }: DefinedTool,
  config: SessionConfig,
): boolean {
  const placeOf = (key: "handler" | "initialize") => placeOfCode(definition[key], owner.root, key, item);
  const handler = placeOf("handler");
  if (handler === undefined) return false;
  const given = config.options.get(qualifiedName);
  const declared = definition.options;
  for (const key of Object.keys(given ?? {})) {
    if (isRecord(declared) && Object.hasOwn(declared, key)) continue;
    const reason = `tool "${qualifiedName}" has no option "${key}"`;
    problems.push(createProblem("InvalidConfig", { reason }, { path: ["options", qualifiedName, key] }));
  }
  const { meta } = readToolMeta(definition._meta);
  const tool = describeTool(name, qualifiedName, source, definition, meta);
  const { inputSchema, outputSchema } = tool;
  const options = readOptions(declared, given);
  const code = { owner, handler, initialize: placeOf("initialize"), options, inputSchema, outputSchema };
  candidates.push({ tool, definition, meta, route: { by: "code", code } });
  return true;
}

/** What a pack offers that the host runs, but for its bundles, and what of it cannot be used. */
export function collectPack(
  { inspected, unusable }: CheckedPack,
  config: SessionConfig,
  owner: CodeOwner,
): Contribution {
  const contribution = contribute();
  const { skipped, skippedPrompts } = contribution;
  for (const item of inspected.items) {
    const { definition, qualifiedName, declaration } = item;
    const { kind } = declaration;
    const source = describeSource(inspected, item);
    const problem = unusable.get(item);
    const name = textOrNull(definition?.name) ?? declaration.name;
    const isUsable = definition !== null && problem === undefined;
    if (kind === "server") {
      if (problem !== undefined) skipped.push(describeUnusable(declaration.name, source, problem));
    } else if (kind === "tool") {
      const tool = { name, qualifiedName, source, owner, item };
      if (!isUsable || !addTool(contribution, { ...tool, definition }, config))
        skipped.push(describeUnusable(name, source, problem));
    } else if (kind === "prompt") {
      if (!isUsable) {
        skippedPrompts.push(describeUnusable(name, source, problem));
        continue;
      }
      const prompt = createPackPrompt(item, owner);
      const { listing } = prompt;
      contribution.prompts.push({
        prompt: { name, qualifiedName, source, ...readPromptTexts(listing) },
        listing,
        route: { by: "code", owner, prompt },
      });
    } else if (item.shape === "resource" && isUsable) {
      const resource = createPackResource(item, owner);
      const { listing } = resource;
      contribution.resources.push({
        resource: describeResource(listing as unknown as ResourceListing, source),
        listing,
        route: { by: "code", resource },
      });
    }
  }
  return contribution;
}

/** The code of the tools that bundles may refer to, by qualified name or, for a built-in, by name. */
export function indexCode(contributions: readonly Contribution[]): Map<string, ToolCode> {
  const index = new Map<string, ToolCode>();
  for (const { tool, route } of contributions.flatMap(({ candidates }) => candidates)) {
    if (route.by === "code" && tool.qualifiedName !== null) index.set(tool.qualifiedName, route.code);
  }
  return index;
}

/**
 * The entries of a pack's bundles, which may run the `code` of other tools. `refusals` has the problems of tools that are not
 * approved; an entry that refers to one is left out.
 */
export async function collectBundles(
  { inspected, unusable, owner }: CheckedPack & { owner: CodeOwner },
  code: ReadonlyMap<string, ToolCode>,
  registry: Registry,
  refusals: ReadonlyMap<string, Problem>,
): Promise<Contribution> {
  const contribution = contribute();
  const { pack, items } = inspected;
  for (const item of items) {
    if (item.shape !== "toolsBundle") continue;
    const source = describeSource(inspected, item);
    const broken = unusable.get(item);
    const skip = (message: string) => {
      for (const name of entryNamesOf(item)) {
        contribution.skipped.push({ name, source, reason: "Invalid", message });
      }
    };
    if (broken !== undefined) {
      const lost = entryNamesOf(item).map((name) => describeUnusable(name, source, broken));
      contribution.skipped.push(...lost);
      continue;
    }
    const { tools, problems } = await createBundleTools(item, inspected, owner, (reference) => {
      try {
        const name = registry.resolve(reference, { from: pack, kind: "tool" }).qualifiedName;
        const found = code.get(name) ?? refusals.get(name);
        return found ?? createProblem("ToolNotFound", { name: reference, otherKind: undefined, nearest: [] });
      } catch (error) {
        if (error instanceof TrailblazeError) return error.problem;
        throw error;
      }
    });
    contribution.problems.push(...problems);
    const [first] = problems.filter(({ severity }) => severity === "error");
    if (first !== undefined) skip(first.message);
    for (const tool of tools) {
      const { meta, problems: faults } = readToolMeta(tool.entry._meta);
      const { kind, name } = item.declaration;
      contribution.problems.push(...faults.map((fault) => ({ ...fault, pack: pack.name, kind, item: name })));
      contribution.candidates.push({
        tool: describeTool(tool.entry.name, null, source, tool.entry, meta),
        definition: tool.entry,
        meta,
        route: { by: "code", ...tool },
        bundle: item.qualifiedName,
      });
    }
  }
  return contribution;
}

/** The problem of a schema that declares a parameter that the host adds. */
export function refuseReserved(schema: Readonly<Record<string, unknown>>): Problem | undefined {
  const [path] = findReservedParameters(schema);
  return path === undefined
    ? undefined
    : createProblem("ReservedParameter", { name: reservedParameter }, { path });
}
