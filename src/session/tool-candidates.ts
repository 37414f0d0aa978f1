import type { SessionConfig } from "../config/session-config.ts";
import { isToolChosen } from "../config/tool-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import {
  findReservedParameters,
  mayRefuseContext,
  reservedParameter,
} from "../json-schema/reserved-parameters.ts";
import type { ListVerdict } from "../lock/gate.ts";
import type { AdvertisedTool } from "../mcp/client/connected-server.ts";
import {
  createProblem,
  type Path,
  type Problem,
  type ProblemPlace,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { addPrefix, makeOwnName, offerNames } from "../qualified-names/advertised-names.ts";
import { createBundleTools, entryNamesOf, type ToolCode } from "../runtime/bundle-tools.ts";
import { describeSource, type ServerPlan } from "../runtime/server-launches.ts";
import { placeOfCode, readOptions } from "../runtime/tool-code.ts";
import { readToolMeta, type ToolMeta } from "../runtime/tool-meta.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-source.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeUnusable } from "./excluded.ts";
import type { PromptContribution } from "./session-prompts.ts";
import type { ResourceContribution } from "./session-reads.ts";
import type { PlannedServer } from "./session-servers.ts";
import type { SessionTool, Skipped, ToolCandidate } from "./session-tool.ts";

/** What one source contributes to a session. */
export interface Contribution extends Partial<PromptContribution>, Partial<ResourceContribution> {
  candidates: ToolCandidate[];
  skipped: Skipped[];
  problems: Problem[];
  /** The tools of a server that has started. */
  listed?: ListedTools;
}

/** The server's own names of what it lists. */
export interface ListedTools {
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

/** The tools of a pack that the host runs. */
export function collectPackTools(checked: CheckedPack, config: SessionConfig): Contribution {
  const { inspected, unusable } = checked;
  const contribution: Contribution = { candidates: [], skipped: [], problems: [] };
  const { pack } = inspected;
  const owner: CodeOwner = { pack, root: pack.location };
  for (const item of inspected.items) {
    if (item.declaration.kind !== "tool") continue;
    const { definition, qualifiedName } = item;
    const source = describeSource(inspected, item);
    const name = textOrNull(definition?.name) ?? item.declaration.name;
    const problem = unusable.get(item);
    const handler = placeOfCode(definition?.handler, owner.root, "handler", item);
    if (definition === null || problem !== undefined || handler === undefined) {
      contribution.skipped.push(describeUnusable(name, source, problem));
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
 * The entries of a pack's bundles. `resolve` returns the qualified name of the tool that an entry refers to, or throws.
 * `refusals` has the problems of tools that are not approved; an entry that refers to one is left out.
 */
export async function collectBundles(
  { inspected, unusable }: CheckedPack,
  code: ReadonlyMap<string, ToolCode>,
  resolve: (reference: string) => string,
  refusals: ReadonlyMap<string, Problem>,
): Promise<Contribution> {
  const contribution: Contribution = { candidates: [], skipped: [], problems: [] };
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
    const { tools, problems } = await createBundleTools(item, inspected, (reference) => {
      try {
        const name = resolve(reference);
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

/** The message for a tool that the config excludes; `undefined` for one that it allows. */
export function explainDenied(
  { choices }: ServerPlan,
  name: string,
  isAllowed: (name: string) => boolean,
): string | undefined {
  if (!isAllowed(name)) return "The config's `packs` excludes it.";
  return choices === undefined || isToolChosen(choices, name)
    ? undefined
    : "`tools` of its server in the config excludes it.";
}

/**
 * The tools that a running server advertises, in its order. `isAllowed` applies the policy for packs to the server's own
 * names.
 */
export function collectServerTools(
  { server, plan, approval }: PlannedServer,
  tools: readonly AdvertisedTool[],
  isAllowed: (name: string) => boolean = () => true,
  verdict?: Pick<ListVerdict, "refused" | "reserved">,
): Contribution {
  const { source, legacyContext, choices, configPath } = plan;
  const names = [...tools, ...server.invalidTools].map(({ name }) => name);
  const { prompts = [], resources = [], resourceTemplates = [] } = server.lists ?? {};
  const otherNames = [...prompts, ...resources, ...resourceTemplates].map(({ name }) => name);
  const listed = { server: plan.label, pack: plan.pack, choices, configPath, names, otherNames };
  const contribution: Contribution = { candidates: [], skipped: [], problems: [], listed };
  const { pack, item } = source;
  const place: ProblemPlace =
    pack !== undefined && item !== undefined
      ? { pack, kind: "server", item }
      : configPath === undefined
        ? {}
        : { path: configPath };
  // A problem's place has no key for a tool of a server, or for a server of the config.
  const owner = pack === undefined ? ` of server ${quote(plan.label)}` : "";
  const report = (name: string, { file: _, path: __, ...problem }: Problem) => {
    const message = `Tool ${quote(name)}${owner}: ${problem.message}`;
    contribution.problems.push({ ...problem, message, ...place });
  };
  contribution.problems.push(...server.listProblems.map((problem) => ({ ...problem, ...place })));
  for (const { name, reason } of server.invalidTools) {
    contribution.skipped.push({ name, source, reason: "Invalid", message: reason });
  }
  const offered = offerNames(choices?.prefix, names, verdict?.reserved?.tools);
  for (const advertised of tools) {
    const { inputSchema, _meta } = advertised;
    const name = makeOwnName(choices?.prefix, advertised.name);
    const denied = explainDenied(plan, advertised.name, isAllowed);
    if (denied !== undefined) {
      contribution.skipped.push({ name, source, reason: "Denied", message: denied });
      continue;
    }
    if (advertised.execution?.taskSupport === "required") {
      const message = "It can be called only as a task, and sessions do not support tasks.";
      contribution.skipped.push({ name, source, reason: "TaskRequired", message });
      continue;
    }
    const refusal = verdict?.refused.get(advertised);
    if (refusal !== undefined) {
      contribution.skipped.push(describeUnusable(name, source, refusal));
      continue;
    }
    const fault = refuseReserved(inputSchema);
    if (fault !== undefined) {
      report(advertised.name, fault);
      contribution.skipped.push({ name, source, reason: "Invalid", message: fault.message });
      continue;
    }
    const { meta, problems } = readToolMeta(_meta);
    for (const problem of problems) report(advertised.name, problem);
    const offeredName = offered.get(advertised.name) ?? name;
    const tool = describeTool(offeredName, null, source, advertised, meta);
    if (offeredName !== addPrefix(choices?.prefix ?? "", advertised.name))
      tool._meta = { "trailblaze/originalName": advertised.name };
    contribution.candidates.push({
      tool,
      definition: advertised,
      meta,
      route: {
        by: "server",
        server,
        plan,
        ...(approval === undefined ? {} : { approval }),
        advertisedName: advertised.name,
        // A strict server would reject the extra key; `_meta.trailblaze` has the same data.
        legacyContext: legacyContext && !mayRefuseContext(inputSchema),
      },
      ...(choices?.toolset === undefined ? {} : { toolset: choices.toolset }),
    });
  }
  return contribution;
}
