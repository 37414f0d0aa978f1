import type { SessionConfig } from "../config/session-config.ts";
import { isToolChosen } from "../config/tool-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import {
  findReservedParameters,
  mayRefuseContext,
  reservedParameter,
} from "../json-schema/reserved-parameters.ts";
import type { ListVerdict } from "../lock/gate.ts";
import type { ListedKind } from "../lock/parts.ts";
import type { AdvertisedPrompt, AdvertisedTool } from "../mcp/client/connected-server.ts";
import type { ListKey } from "../mcp/client/server-lists.ts";
import {
  createProblem,
  type Path,
  type Problem,
  type ProblemPlace,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { addPrefix, makeOwnName, offerNames } from "../qualified-names/advertised-names.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { createBundleTools, entryNamesOf, type ToolCode } from "../runtime/bundle.ts";
import { createEntryMeta } from "../runtime/mcp-shapes.ts";
import { createPackResource } from "../runtime/pack-resource.ts";
import { describeSource, type ServerPlan } from "../runtime/server-launches.ts";
import { type CodeOwner, placeOfCode, readOptions, type ToolSource } from "../runtime/tool-code.ts";
import { readToolMeta, type ToolMeta } from "../runtime/tool-meta.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeUnusable } from "./excluded.ts";
import { createPackPrompt, readPromptTexts } from "./pack-prompt.ts";
import type { PromptCandidate } from "./session-prompts.ts";
import {
  collectServerResources,
  describeResource,
  type ResourceCandidate,
  type ResourceListing,
  type ResourceServer,
} from "./session-reads.ts";
import type { PlannedServer } from "./session-servers.ts";
import type { SessionTool, Skipped, ToolCandidate } from "./session-tool.ts";

/** What one source contributes to a session. */
export interface Contribution {
  candidates: ToolCandidate[];
  skipped: Skipped[];
  prompts: PromptCandidate[];
  skippedPrompts: Skipped[];
  resources: ResourceCandidate[];
  /** Can read more than it lists: what results link to. */
  resourceServer?: ResourceServer;
  problems: Problem[];
  /** What a server lists that has started. */
  listed?: ListedNames;
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

/** The server's own names of what it lists. */
export interface ListedNames {
  /** The label: of a server of a pack, its qualified name. */
  server: string;
  /** Qualified name of the server's pack; `undefined` for a server of the config. */
  pack: string | undefined;
  choices: ServerPlan["choices"];
  configPath: Path | undefined;
  /** Of its tools. */
  names: readonly string[];
  /** Of its prompts, resources and templates. */
  otherNames: readonly string[];
}

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

/** A tool of a pack or a built-in. */
export function createCandidate(
  tool: SessionTool,
  definition: object,
  meta: ToolMeta,
  code: Omit<ToolCode, "inputSchema" | "outputSchema">,
): ToolCandidate {
  const { inputSchema, outputSchema } = tool;
  return { tool, definition, meta, route: { by: "code", code: { ...code, inputSchema, outputSchema } } };
}

/** Problems for options in the config that the tool does not declare. */
export function findUnknownOptions(
  name: string,
  declared: unknown,
  given: Readonly<Record<string, unknown>> | undefined,
): Problem[] {
  return Object.keys(given ?? {})
    .filter((key) => !(isRecord(declared) && Object.hasOwn(declared, key)))
    .map((key) => {
      const reason = `tool "${name}" has no option "${key}"`;
      return createProblem("InvalidConfig", { reason }, { path: ["options", name, key] });
    });
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
      const handler = placeOfCode(definition?.handler, owner.root, "handler", item);
      if (!isUsable || handler === undefined) {
        skipped.push(describeUnusable(name, source, problem));
        continue;
      }
      const given = config.options.get(qualifiedName);
      contribution.problems.push(...findUnknownOptions(qualifiedName, definition.options, given));
      const { meta } = readToolMeta(definition._meta);
      const tool = describeTool(name, qualifiedName, source, definition, meta);
      const initialize = placeOfCode(definition.initialize, owner.root, "initialize", item);
      const options = readOptions(definition.options, given);
      const code = { owner, handler, initialize, options };
      contribution.candidates.push(createCandidate(tool, definition, meta, code));
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

/** Why the config excludes an entry of a server's list; `undefined` for one that it allows. */
export function explainDenied(
  { plan: { choices }, isAllowed }: PlannedServer,
  list: ListKey,
  name: string,
): string | undefined {
  if (!isAllowed(name)) return "The config's `packs` excludes it.";
  // `tools` of a server in the config is only about its tools.
  return list !== "tools" || choices === undefined || isToolChosen(choices, name)
    ? undefined
    : "`tools` of its server in the config excludes it.";
}

/** A server that does not start, and why. */
function collectFailedServer({ label, source, configPath }: ServerPlan, problem: Problem): Contribution {
  const { pack, item } = source;
  const own = configPath === undefined ? {} : { path: problem.path ?? configPath };
  const place = pack === undefined || item === undefined ? own : { pack, kind: "server" as const, item };
  const skipped: Skipped = { name: label, source, reason: "ServerFailed", message: problem.message };
  return contribute({ skipped: [skipped], problems: [{ ...problem, ...place }] });
}

const noVerdict: ListVerdict = { refused: new Map(), problems: [], vanished: [] };

/**
 * What a server offers of its lists, in their order, as far as the config and the lock allow it; nothing while they are unknown.
 */
export function collectServer(planned: PlannedServer): Contribution {
  const { server, plan, approval } = planned;
  const { lists, verdict } = approval?.offer ?? { lists: server.lists, verdict: noVerdict };
  if (lists === undefined)
    return server.fault === undefined ? contribute() : collectFailedServer(plan, server.fault);
  const { source, choices, configPath } = plan;
  const prefix = choices?.prefix;
  const { pack, item } = source;
  const place: ProblemPlace =
    pack !== undefined && item !== undefined
      ? { pack, kind: "server", item }
      : configPath === undefined
        ? {}
        : { path: configPath };
  // A problem's place has no key for a tool of a server, or for a server of the config.
  const ofServer = pack === undefined ? ` of server ${quote(plan.label)}` : "";
  const placeIn = (name: string, { file: _, path: __, ...problem }: Problem): Problem => {
    const message = `Tool ${quote(name)}${ofServer}: ${problem.message}`;
    return { ...problem, message, ...place };
  };
  const lost = (kind: ListedKind) =>
    verdict.vanished
      .filter((one) => one.kind === kind)
      .map(({ name, problem }) => describeUnusable(makeOwnName(prefix, name), source, problem));
  const skipped = server.invalidTools.map(
    ({ name, reason: message }): Skipped => ({ name, source, reason: "Invalid", message }),
  );
  const problems = server.listProblems.map((problem) => ({ ...problem, ...place }));
  const contribution = contribute({ skipped, problems });
  const { candidates, prompts, skippedPrompts } = contribution;

  /** The entries of a list that are offered, each with its name; the others join `left`. */
  const choose = <Entry extends AdvertisedTool | AdvertisedPrompt>(
    list: "tools" | "prompts",
    entries: readonly Entry[],
    names: readonly string[],
    left: Skipped[],
  ) => {
    const offered = offerNames(prefix, names, verdict.reserved?.[list]);
    return entries.flatMap((entry) => {
      const own = makeOwnName(prefix, entry.name);
      const denied = explainDenied(planned, list, entry.name);
      const refusal = verdict.refused.get(entry);
      if (denied !== undefined) left.push({ name: own, source, reason: "Denied", message: denied });
      else if (refusal !== undefined) left.push(describeUnusable(own, source, refusal));
      if (denied !== undefined || refusal !== undefined) return [];
      const name = offered.get(entry.name) ?? own;
      const isSame = name === addPrefix(prefix ?? "", entry.name);
      return [{ entry, name, renamed: isSame ? {} : { _meta: { "trailblaze/originalName": entry.name } } }];
    });
  };

  const toolNames = [...lists.tools, ...server.invalidTools].map(({ name }) => name);
  for (const { entry, name, renamed } of choose("tools", lists.tools, toolNames, skipped)) {
    if (entry.execution?.taskSupport === "required") {
      const message = "It can be called only as a task, and sessions do not support tasks.";
      skipped.push({ name, source, reason: "TaskRequired", message });
      continue;
    }
    const fault = refuseReserved(entry.inputSchema);
    if (fault !== undefined) {
      problems.push(placeIn(entry.name, fault));
      skipped.push({ name, source, reason: "Invalid", message: fault.message });
      continue;
    }
    const { meta, problems: faults } = readToolMeta(entry._meta);
    problems.push(...faults.map((one) => placeIn(entry.name, one)));
    candidates.push({
      tool: { ...describeTool(name, null, source, entry, meta), ...renamed },
      definition: entry,
      meta,
      route: {
        by: "server",
        ...planned,
        advertisedName: entry.name,
        // A strict server would reject the extra key; `_meta.trailblaze` has the same data.
        legacyContext: plan.legacyContext && !mayRefuseContext(entry.inputSchema),
      },
      toolset: choices?.toolset,
    });
  }
  skipped.push(...lost("tool"));
  problems.push(...verdict.problems);

  const promptNames = lists.prompts.map(({ name }) => name);
  for (const { entry, name, renamed } of choose("prompts", lists.prompts, promptNames, skippedPrompts)) {
    const prompt = { name, qualifiedName: null, source, ...readPromptTexts(entry), ...renamed };
    const listing = { ...entry, _meta: createEntryMeta(entry._meta, null, prompt._meta) };
    prompts.push({ prompt, listing, route: { by: "server", ...planned, advertisedName: entry.name } });
  }
  skippedPrompts.push(...lost("prompt"));

  const { prompts: others = [], resources = [], resourceTemplates = [] } = server.lists ?? {};
  const otherNames = [...others, ...resources, ...resourceTemplates].map(({ name }) => name);
  const listed = { server: plan.label, pack: plan.pack, choices, configPath, names: toolNames, otherNames };
  return {
    ...contribution,
    ...collectServerResources(planned, lists, verdict.refused),
    // The lock has no tools that the config excludes, so patterns may match more than it has.
    listed: server.lists && listed,
  };
}
