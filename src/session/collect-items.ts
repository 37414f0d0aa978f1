import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import { isRecord, textOrNull } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Prompt } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem, quote, TrailblazeError, withoutUndefined } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { listOutside } from "../runtime/apps.ts";
import { createBundleTools, entryNamesOf, type RunnableTool } from "../runtime/bundle.ts";
import { describeSource } from "../runtime/server-launches.ts";
import { type CodeOwner, placeOfCode, readOptions, type ToolSource } from "../runtime/tool-code.ts";
import { readToolMeta } from "../runtime/tool-meta.ts";
import type { CheckedPack } from "../validate/finding.ts";
import {
  type Contribution,
  contribute,
  describeUnusable,
  isOf,
  isRefusal,
  labelOf,
  type ResourceRoute,
  type SessionItem,
  type SessionPrompt,
  type SessionResource,
  type SessionTool,
  type ToolItem,
} from "./items.ts";
import { createPackPrompt, createPackResource } from "./pack-content.ts";

/** `_meta` without the keys of Trailblaze; `undefined` if nothing is left. */
function metaOfAuthor(meta: unknown): Record<string, unknown> | undefined {
  const entries = Object.entries(isRecord(meta) ? meta : {}).filter(
    ([key]) => !key.startsWith("trailblaze/"),
  );
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** A tool with a valid definition or a server's entry for it, and what is wrong with its `_meta`. */
export function createTool(
  shown: Pick<SessionTool, "name" | "qualifiedName" | "source">,
  definition: object,
  route: ToolItem["route"],
): { tool: ToolItem; faults: Problem[] } {
  const listing = listOutside(definition as Readonly<Record<string, unknown>>, labelOf(route));
  const { title, description, annotations, _meta } = listing;
  const { meta, problems: faults } = readToolMeta(_meta);
  const described: SessionTool = withoutUndefined({
    ...shown,
    title: textOrNull(title) ?? undefined,
    description: textOrNull(description) ?? undefined,
    ...readSchemas(listing),
    annotations: isRecord(annotations) ? annotations : undefined,
    _meta: metaOfAuthor(_meta),
    isForLlm: meta.isForLlm,
    isRecordable: meta.isRecordable,
    toolsets: [],
  });
  return { tool: { kind: "tool", shown: described, listing, meta, route }, faults };
}

const readSchemas = ({ inputSchema, outputSchema }: Readonly<Record<string, unknown>>) => ({
  inputSchema: { ...(isRecord(inputSchema) ? inputSchema : {}), type: "object" as const },
  outputSchema: isRecord(outputSchema) && Object.keys(outputSchema).length > 0 ? outputSchema : undefined,
});

export const describePrompt = (
  name: string,
  qualifiedName: string | null,
  source: ToolSource,
  { title, description, arguments: args = [] }: Prompt,
): SessionPrompt => withoutUndefined({ name, qualifiedName, source, title, description, arguments: args });

/** A resource as it is listed, or a template. */
export function createResource(
  source: ToolSource,
  listed: Readonly<Record<string, unknown>>,
  route: ResourceRoute,
): SessionItem {
  const listing = listOutside(listed, labelOf(route));
  const { icons: _, size: __, _meta, ...others } = listing as unknown as SessionResource & typeof listed;
  const shown = withoutUndefined({ ...others, _meta: metaOfAuthor(_meta), source });
  return { kind: "resource", shown, listing, route };
}

/**
 * Adds a tool with the options that the config has for it, and tells of those that it does not declare. Returns what is wrong with
 * its `_meta`.
 */
function addTool(
  { items, problems }: Contribution,
  item: InspectedItem,
  source: ToolSource,
  owner: CodeOwner,
  config: SessionConfig,
): Problem[] {
  const { qualifiedName, declaration } = item;
  const definition = item.definition ?? {};
  const placeOf = (key: "handler" | "initialize") => placeOfCode(definition[key], key, item);
  const handler = placeOf("handler");
  if (handler === undefined) return [];
  const given = config.options.get(qualifiedName);
  const declared = definition.options;
  for (const key of Object.keys(given ?? {})) {
    if (isRecord(declared) && Object.hasOwn(declared, key)) continue;
    const reason = `tool "${qualifiedName}" has no option "${key}"`;
    problems.push(createProblem("InvalidConfig", { reason }, { path: ["options", qualifiedName, key] }));
  }
  const name = textOrNull(definition.name) ?? declaration.name;
  const code = {
    names: [name, qualifiedName],
    owner,
    handler,
    initialize: placeOf("initialize"),
    options: readOptions(declared, given),
    ...readSchemas(definition),
  };
  const route = { by: "code", owner, id: name, code } as const;
  const { tool, faults } = createTool({ name, qualifiedName, source }, definition, route);
  items.push(tool);
  return faults;
}

/** What a pack offers that the host runs, but for its bundles, and what of that cannot be used. */
export function collectPack(
  { inspected, unusable }: CheckedPack,
  config: SessionConfig,
  owner: CodeOwner,
): Contribution {
  const contribution = contribute();
  for (const item of inspected.items) {
    const { definition, qualifiedName, declaration } = item;
    const { kind } = declaration;
    const source = describeSource(inspected, item);
    const problem = unusable.get(item);
    const name = textOrNull(definition?.name) ?? declaration.name;
    const isUsable = definition !== null && problem === undefined;
    const add = (one: SessionItem) => contribution.items.push(one);
    if (!isUsable) {
      // Those are told of where they would start.
      if (kind !== "server") contribution.skipped.push(describeUnusable(kind, name, source, problem));
    } else if (kind === "tool") {
      addTool(contribution, item, source, owner, config);
    } else if (kind === "prompt") {
      const code = createPackPrompt(item);
      const { listing } = code;
      const shown = describePrompt(name, qualifiedName, source, listing);
      add({ kind, shown, listing, route: { by: "code", owner, id: name, code } });
    } else if (item.skill !== undefined) {
      const { files, entry: listing } = item.skill;
      const { description } = listing.frontmatter;
      const shown = { name, qualifiedName, description, source, files };
      const route = { by: "code", owner, id: listing.uri, code: item.skill } as const;
      add({ kind: "skill", shown, listing, route });
    } else if (item.shape === "resource") {
      const code = createPackResource(item, owner);
      add(createResource(source, code.listing, { by: "code", owner, id: code.uri, code }));
    }
  }
  return contribution;
}

/** The built-ins, those of the config first. Their modules are in the config's folder. */
export async function collectBuiltIns(
  builtIns: readonly BuiltInDefinition[],
  config: SessionConfig,
): Promise<Contribution> {
  const contribution = contribute();
  if (builtIns.length === 0) return contribution;
  const { checkOwnTools } = await import("../validate/check-packs.ts");
  const { items, unusable } = await checkOwnTools(config.directory, builtIns);
  const owner: CodeOwner = { pack: undefined, root: config.directory };
  for (const [index, item] of items.entries()) {
    const { name } = item.declaration;
    const isOfConfig = index < config.builtIns.length;
    const isInFile = isOfConfig && config.file !== undefined;
    const source: ToolSource = { type: "builtIn", item: name, ...(isInFile && { file: config.file }) };
    const fault = unusable.get(item);
    if (fault !== undefined) contribution.skipped.push(describeUnusable("tool", name, source, fault));
    const faults = fault === undefined ? addTool(contribution, item, source, owner, config) : [fault];
    // A problem's place has no key for a built-in.
    for (const { path = [], ...problem } of faults) {
      const message = `Tool ${quote(name)}: ${problem.message}`;
      const place = isOfConfig && { path: ["builtIns", index, ...path] };
      contribution.problems.push({ ...problem, message, ...place });
    }
  }
  return contribution;
}

/** The entries of the bundles of each pack, which may run the code of other tools, but not of those that are not approved. */
export function collectBundles(
  packs: readonly (CheckedPack & { owner: CodeOwner })[],
  offered: readonly Contribution[],
  registry: Registry,
): Promise<Contribution[]> {
  const refused = packs.flatMap(({ unusable }) => [...unusable]).filter(([, problem]) => isRefusal(problem));
  const refusals = new Map(refused.map(([{ qualifiedName }, problem]) => [qualifiedName, problem]));
  const code = new Map<string, RunnableTool>();
  for (const { shown, route } of offered.flatMap(({ items }) => items.filter(isOf("tool"))))
    if (route.by === "code" && shown.qualifiedName !== null) code.set(shown.qualifiedName, route.code);
  const ofPacks = packs.map(async ({ inspected, unusable, owner }) => {
    const contribution = contribute();
    const { pack, items } = inspected;
    for (const item of items) {
      if (item.shape !== "toolsBundle") continue;
      const source = describeSource(inspected, item);
      const broken = unusable.get(item);
      const findTool = (reference: string) => {
        try {
          const name = registry.resolve(reference, { from: pack, kind: "tool" }).qualifiedName;
          const found = code.get(name) ?? refusals.get(name);
          return found ?? createProblem("ToolNotFound", { name: reference, nearest: [] });
        } catch (error) {
          if (error instanceof TrailblazeError) return error.problem;
          throw error;
        }
      };
      const { tools, problems } = broken
        ? { tools: [], problems: [] }
        : await createBundleTools(item, owner, findTool);
      contribution.problems.push(...problems);
      const fault = broken ?? problems.find(({ severity }) => severity === "error");
      for (const name of fault ? entryNamesOf(item) : [])
        contribution.skipped.push(describeUnusable("tool", name, source, fault));
      const { kind, name: bundle } = item.declaration;
      for (const code of tools) {
        const { name } = code.entry;
        const route = { by: "code", owner, id: name, code } as const;
        const { tool, faults } = createTool({ name, qualifiedName: null, source }, code.entry, route);
        const placed = faults.map((fault) => ({ ...fault, pack: pack.name, kind, item: bundle }));
        contribution.problems.push(...placed);
        contribution.items.push({ ...tool, bundle: item.qualifiedName });
      }
    }
    return contribution;
  });
  return Promise.all(ofPacks);
}
