import { locateInConfig } from "../config/config-file.ts";
import { isAllowed } from "../config/packs-policy.ts";
import { checkBuiltIns } from "../config/read-config.ts";
import type { BuiltInDefinition, SessionConfig, UserServer } from "../config/session-config.ts";
import { isToolAllowed } from "../config/tool-policy.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { type DiscoveredPack, type FoundPack, isDeclaredOrigin, isUnasked } from "../discovery/types.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { ServerMember } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { type Problem, type ProblemArguments, TrailblazeError } from "../problems/index.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import { createRegistry } from "../qualified-names/create-registry.ts";
import { isQualifiedName } from "../qualified-names/qualified-name.ts";
import { isForAppsAlone } from "../runtime/apps.ts";
import {
  describeSource,
  describeUserSource,
  planPackServer,
  planRemoteServer,
  planUserServer,
  type ServerPlan,
} from "../runtime/server-launches.ts";
import { type CodeOwner, placeOfCode } from "../runtime/tool-code.ts";
import { type CheckedPack, makesUnusable } from "../validate/finding.ts";
import { collectBuiltIns, collectBundles, collectPack } from "./collect-items.ts";
import { hashPackCode, refuseIncompleteProject } from "./follow-project.ts";
import {
  type Contribution,
  collectVanished,
  contribute,
  describeUnusable,
  isOf,
  type SessionItem,
  type ToolItem,
} from "./items.ts";
import { findNeededServers } from "./names.ts";
import { describeServer, referencesOf, selectPacks } from "./select-packs.ts";
import { ServerSource } from "./server-source.ts";
import type { SessionFrame } from "./session-frame.ts";
import { selectFirst } from "./session-skills.ts";

export interface ReadingContext {
  frame: SessionFrame;
  config: SessionConfig;
  /** Decides which items are approved; `undefined` if everything is. */
  gate: LockGate | undefined;
  holds: Holds;
}

/** The servers and the code that a reading uses. What nothing else holds ends after its last user. */
export class Holds {
  readonly #releases: (() => void)[] = [];
  #users = 0;

  add(release: () => void): void {
    this.#releases.push(release);
  }

  /** Notes a user. The returned function notes its end; call it once. */
  use(): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
      if (this.#users === 0) for (const release of this.#releases.splice(0)) release();
    };
  }
}

/** The project as it was at one moment, with the servers that were started for it. */
export type ProjectReading = Awaited<ReturnType<typeof readProject>>;

export const sourcesOf = ({ parts }: { parts: readonly (Contribution | ServerSource)[] }): ServerSource[] =>
  parts.filter((part) => part instanceof ServerSource);

/** Whether a server is left out until the user has signed in to it. */
function awaitsSignIn(error: unknown): boolean {
  if (!(error instanceof TrailblazeError) || error.code !== "AuthorizationRequired") return false;
  const { status, scopes, hasHeader } = error.problem.args as ProblemArguments["AuthorizationRequired"];
  return (status === 401 || scopes !== undefined) && hasHeader !== true;
}

/** Whether what fails is an error of the start; `asked`: what the session wants. */
function isFatal({ rules: { mode, selection }, states }: SessionFrame, asked: boolean): boolean {
  return states.current === undefined && (selection !== undefined || (mode !== "served" && asked));
}

function failForErrors({ frame, config }: ReadingContext, problems: readonly Problem[]): void {
  const broken = isFatal(frame, config.packs.onError === "fail") ? problems.find(makesUnusable) : undefined;
  if (broken !== undefined) throw new TrailblazeError(broken);
}

/** Takes a server into the reading. It starts now, or when it is needed; `isOther`: the session's calls do not need it. */
function addServer(
  { config, frame, gate, holds }: ReadingContext,
  plan: ServerPlan,
  isOther: boolean,
  isAllowed: (tool: string) => boolean = () => true,
): ServerSource {
  const approved = gate?.findApproved(plan);
  const mayBeLazy = frame.rules.mode !== "check" && (plan.entry.start ?? config.serversStart) === "lazy";
  const isLazy = isOther || (mayBeLazy && approved !== undefined);
  frame.memory.addSecrets(plan.secrets);
  const server = frame.processes.getServer(plan, config, isLazy);
  holds.add(server.hold());
  return new ServerSource(plan, server, { isLazy, gate, approved, isAllowed });
}

/** A server of the config, after what is to say of it before it starts. */
async function addOwnServer(
  context: ReadingContext,
  { server, refusal, problems = [] }: { server: UserServer } & Partial<ReturnType<LockGate["checkServer"]>>,
  isOther: boolean,
): Promise<(Contribution | ServerSource)[]> {
  const { config, gate } = context;
  const told = isOther ? [] : problems;
  if (refusal !== undefined) {
    const skipped = describeUnusable("server", server.name, describeUserSource(server, config), refusal);
    return [contribute({ skipped: [skipped], problems: told })];
  }
  const describe = server.url === undefined ? planUserServer : planRemoteServer;
  const plan = await describe(server, config, gate !== undefined);
  return [contribute({ problems: told }), addServer(context, plan, isOther)];
}

/** The servers of a pack in their order, or why they are left out. */
function addPackServers(
  context: ReadingContext,
  { inspected, unusable }: CheckedPack,
  isOther: boolean,
): (Contribution | ServerSource)[] {
  const { config } = context;
  return inspected.items.flatMap((item): (Contribution | ServerSource)[] => {
    const { kind, name } = item.declaration;
    const problem = unusable.get(item);
    if (kind === "server" && problem !== undefined) {
      const skipped = describeUnusable(kind, name, describeSource(inspected, item), problem);
      return [contribute({ skipped: [skipped] })];
    }
    if (item.shape !== "subprocessServer") return [];
    const plan = planPackServer(inspected, item, config, context.gate !== undefined);
    const isToolOffered = (tool: string) =>
      isToolAllowed(config.packs, describeServer(inspected, name), tool);
    return [addServer(context, plan, isOther, isToolOffered)];
  });
}

/** Rejects if the server fails and the session needs it. The failure of one that the config defines has its place. */
async function whenStarted(context: ReadingContext, { server, plan, how }: ServerSource): Promise<void> {
  const { config, frame } = context;
  const isAsked = plan.pack === undefined ? frame.rules.mode === "host" : config.packs.onError === "fail";
  if (how.isLazy) return;
  try {
    await server.ready;
  } catch (error) {
    if (!isFatal(frame, isAsked) || (frame.rules.selection === undefined && awaitsSignIn(error))) return;
    if (!(error instanceof TrailblazeError) || plan.pack !== undefined) throw error;
    const path = error.problem.path ?? plan.place.path;
    const [problem] = await locateInConfig([{ ...error.problem, path }], config.text);
    throw new TrailblazeError(problem ?? error.problem);
  }
}

/** Keeps the runners of packs' code. The code is loaded now, because its files may be replaced. */
function holdCode(
  { frame: { processes }, holds }: ReadingContext,
  packs: readonly { owner: CodeOwner }[],
  offered: readonly Contribution[],
): void {
  for (const { owner } of packs) holds.add(processes.holdCode(owner));
  for (const { route } of offered.flatMap(({ items }) => items.filter(isOf("tool")))) {
    if (route.by !== "code" || route.code.owner.pack === undefined) continue;
    const { owner, handler } = route.code;
    const load = async () => (await processes.runnerOf(owner)).load(handler);
    // The first call reports it.
    load().catch(() => {});
  }
}

/** The packs that the session uses, as far as they are approved. `isForCalls`: it is for known calls. */
async function readPacks(context: ReadingContext, isForCalls: boolean) {
  const { frame, config, gate } = context;
  const { cwd, options, resources, rules, states } = frame;
  const { selection } = rules;
  const { calls = [] } = options;
  const found = selection?.found ?? (await resources.step(findPacks(port, { cwd, policy: config.packs })));
  if (selection !== undefined) {
    const problems = selection.packs.flatMap((pack) => pack.problems);
    return { found, packs: selection.packs, skipped: [], problems };
  }
  // What is named so takes a pack that the project does not declare.
  for (const name of calls) if (isQualifiedName(name)) await resources.step(lookUpSubject(port, found, name));
  if (states.current !== undefined) refuseIncompleteProject(found, states.current.parts.reading);
  const problems = [...found.problems, ...found.packs.flatMap(({ pack }) => pack.problems)];
  // A pack with an unreadable field has no items that could be checked.
  for (const { pack } of found.packs) {
    const isOwn = isDeclaredOrigin(pack.origin) && !pack.shadowed;
    if (isOwn && isAllowed(config.packs, [pack.qualifiedName])) failForErrors(context, pack.problems);
  }
  // Calls need no skills, but a frozen lock is held against all that is there.
  const needsSkills = !isForCalls || gate?.isFrozen === true;
  const takesSkills = (one: FoundPack) => !isUnasked(one) || gate?.takesUnasked(one.pack.name) === true;
  const selecting = selectPacks(found, referencesOf(config), needsSkills ? takesSkills : undefined);
  const { selected, skipped } = await resources.step(selecting);
  const packs: CheckedPack[] = [];
  for (const inspected of selected) {
    const { checkPack } = await import("../validate/check-packs.ts");
    const valid = await resources.step(checkPack(inspected, found));
    const checked = gate?.checkPack(valid) ?? valid;
    problems.push(...checked.problems);
    failForErrors(context, [...inspected.pack.problems, ...checked.problems]);
    packs.push(checked);
  }
  // What is left of the lock is about others.
  problems.push(...(gate?.finish(found) ?? []));
  return { found, packs, skipped, problems };
}

/** Reads the project, or what is selected of it, and starts its servers. Throws a `TrailblazeError` for what is broken and needed. */
export async function readProject(context: ReadingContext) {
  const { frame, config, gate, holds } = context;
  const { options, resources, rules, processes, states } = frame;
  const { selection } = rules;
  const { calls = [], toolsets, watch } = options;
  const needed = toolsets === undefined ? findNeededServers(calls, config) : undefined;
  const isForCalls = needed !== undefined;
  const servers = config.subprocessServers.map((server) => ({ server, ...gate?.checkServer(server) }));
  const addOwn = () =>
    Promise.all(servers.map((one) => addOwnServer(context, one, needed?.has(one.server.name) === false)));
  // The servers of the config start while packs are found, unless the state may be refused.
  const startsEarly = states.current === undefined && gate?.isFrozen !== true;
  const early = startsEarly ? await resources.step(addOwn()) : undefined;
  const { found, skipped, problems, ...checked } = await readPacks(context, isForCalls);
  const ofConfig = (early ?? (await resources.step(addOwn()))).flat();

  const packs = checked.packs.map((one) => {
    const { pack } = one.inspected;
    const content = watch ? hashPackCode(one.inspected) : undefined;
    const owner = { pack, root: pack.location, content };
    const servers = addPackServers(context, one, isForCalls);
    return { ...one, owner, servers, offered: collectPack(one, config, owner) };
  });

  const composed = selection?.composed;
  const own = composed?.builtIns ?? [...config.builtIns, ...(await checkBuiltIns(options.builtIns ?? []))];
  const hostTools = await resources.step(collectBuiltIns(own, config));
  const installed = found.packs.map(({ pack }) => pack);
  const builtIns = own.map(({ name }) => String(name));
  const registry = createRegistry(installed, { builtIns, manager: managerIn(port, found.workspace) });
  const offered = [hostTools, ...packs.map((pack) => pack.offered)];
  const bundles = await resources.step(collectBundles(packs, offered, registry));
  const ofHost = hostTools.skipped.length > 0 ? [hostTools] : [];
  const needy = composed === undefined ? packs.map((pack) => pack.offered) : ofHost;
  const ofNeedy = [...needy, ...bundles].flatMap((one) => one.problems);
  failForErrors(context, ofNeedy);
  if (watch) holdCode(context, packs, [...offered, ...bundles]);
  const ofPacks = packs.map((pack, index) => [pack.offered, bundles[index] ?? contribute(), ...pack.servers]);
  const left = [...skipped, ...collectVanished(packs.flatMap((one) => one.problems))];
  let parts = [hostTools, ...ofConfig, ...ofPacks.flat(), contribute({ skipped: left })];
  if (selection !== undefined && composed !== undefined) {
    const { items, initializers } = selectMembers(selection, composed, [...offered, ...bundles]);
    processes.initializers = initializers;
    parts = [contribute({ items })];
  }
  const started = Promise.all(sourcesOf({ parts }).map((source) => whenStarted(context, source)));
  started.catch(() => {});
  return {
    config,
    found,
    /** As far as they are approved. */
    packs,
    /** What offers something, in the order of the session's tools. */
    parts,
    problems: [...config.problems, ...problems],
    /** All installed packs, and the host's own tools. */
    registry,
    /** Whether the session is for known calls, and whether only the servers that these need have started. */
    isForCalls,
    isPartial: isForCalls,
    /** Resolves when each server has started or failed, and rejects if one fails that the session needs. */
    started,
    holds,
  };
}

/** What a session has instead of what its project has: one server, or the members of a composed one. */
export interface Selection {
  /** The name of the server in messages; for one of the config its label. */
  label: string;
  /** Where packs were found. Default: in the project. */
  found?: FoundPacks;
  /** The packs of the server, or of its members and of what entries of bundles refer to, with these items only. */
  packs: readonly CheckedPack[];
  composed?: Composition;
  /** Members also offer tools that need a session or are not for models. */
  allTools?: boolean;
}

export interface Composition {
  instructions?: string | undefined;
  /** The server's item and its pack; `undefined` for a server of the config. */
  origin?: { item: InspectedItem; pack: DiscoveredPack };
  /** In their order, also those that are not approved. */
  members: readonly ServerMember[];
  /** The host's tools among them, and among what entries of bundles refer to. */
  builtIns: readonly BuiltInDefinition[];
}

export type Initializer = ReturnType<typeof findInitializers>[number];

/** The server's `initialize` function, then its tools' in their order. */
function findInitializers(label: string, { origin }: Composition, tools: readonly ToolItem[]) {
  const { item, pack } = origin ?? {};
  const owner = pack && { pack, root: pack.location };
  const place = owner && placeOfCode(item?.definition?.initialize, "initialize", item);
  const ofServer = owner && place && { name: item?.qualifiedName ?? label, owner, place, options: {} };
  const ofTools = tools.flatMap(({ shown, route }) => {
    if (route.by !== "code" || route.code.initialize === undefined) return [];
    const { owner, initialize, options } = route.code;
    return [{ name: shown.qualifiedName ?? label, owner, place: initialize, options }];
  });
  return ofServer ? [ofServer, ...ofTools] : ofTools;
}

/** Whether an item is a member, or an entry of a bundle that is one. */
function isMember(one: SessionItem, { kind, name, item }: ServerMember): boolean {
  if (kind === "toolset") return one.kind === "tool" && one.bundle === name;
  if (one.kind !== kind) return false;
  return one.kind === "resource"
    ? one.route.by === "code" && one.route.code.item === item
    : one.shown.qualifiedName === name;
}

/** What a composed server has of all that its packs and the host offer, with numbers for repeated names, and what runs before its code. */
function selectMembers(
  { label, allTools }: Selection,
  composed: Composition,
  offered: readonly Contribution[],
): { items: SessionItem[]; initializers: Initializer[] } {
  const all = offered.flatMap(({ items }) => items);
  const { items: candidates } = selectFirst(
    composed.members.flatMap((member) => all.filter((one) => isMember(one, member))),
  );
  const items = candidates.filter(
    (one) =>
      one.kind !== "tool" ||
      allTools ||
      ((one.meta.isForLlm || isForAppsAlone(one.shown._meta)) && !one.meta.requiresContext),
  );
  for (const kind of ["tool", "prompt"] as const) {
    const named = items.filter(isOf(kind));
    const names = numberNames(named.map(({ shown }) => shown.name));
    for (const [index, { shown }] of named.entries()) shown.name = names[index] ?? shown.name;
  }
  return { items, initializers: findInitializers(label, composed, candidates.filter(isOf("tool"))) };
}
