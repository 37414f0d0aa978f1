import { checkBuiltIns } from "../config/built-ins.ts";
import { locateInConfig } from "../config/config-file.ts";
import { isAllowed } from "../config/packs-policy.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { lookUpSubject } from "../discovery/look-up-pack.ts";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { managerIn } from "../discovery/project-manager.ts";
import { isDeclaredOrigin } from "../discovery/types.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { createRegistry, type Registry } from "../qualified-names/create-registry.ts";
import { isQualifiedName } from "../qualified-names/index.ts";
import { readBins } from "../qualified-names/reserved-commands.ts";
import type { CodeOwner } from "../runtime/tool-code.ts";
import { type CheckedPack, makesUnusable } from "../validate/checked-pack.ts";
import { collectToolsets } from "./collect-toolsets.ts";
import {
  collectVanished,
  describeExcluded,
  findRefusals,
  findShownToolsets,
  isCallable,
  selectFitting,
} from "./excluded.ts";
import {
  findUsedPackages,
  refuseIncompletePacks,
  refuseIncompleteProject,
  type UsedPackage,
} from "./missing-packages.ts";
import { findNeededServers, giveNames, type NameContext, Names } from "./names.ts";
import type { OwnTool } from "./own-tools.ts";
import { hashPackCode } from "./program-content.ts";
import { referencesOf, selectPacks } from "./select-packs.ts";
import { collectEntries } from "./server-states.ts";
import type { PlannedServer, SessionServer } from "./session-servers.ts";
import { SessionState } from "./session-state.ts";
import { type StateContext, StateServers } from "./state-servers.ts";
import { type Contribution, collectBundles, collectPack, contribute, indexCode } from "./tool-candidates.ts";
import { findUnmatchedPatterns } from "./unmatched-patterns.ts";

/** A selected pack, as far as it is approved. */
interface ReadPack {
  checked: CheckedPack;
  owner: CodeOwner;
  /** What it contributes without its servers. */
  offered: Contribution[];
  servers: PlannedServer[];
}

/** One reading of the project, with the servers that were started for it. Creates states from what they list by then. */
export class StateSources {
  readonly #port = createNodeInspectionPort();
  readonly #context: StateContext;
  readonly #servers: StateServers;
  readonly #problems: Problem[];
  readonly #releases: (() => void)[] = [];
  #own: PlannedServer[] = [];
  #found: FoundPacks | undefined;
  /** The selected packs before approval. */
  installed: readonly CheckedPack[] = [];
  /** The packages that were used when the project was read; none if it is not followed. */
  used: readonly UsedPackage[] = [];
  #packs: readonly ReadPack[] = [];
  #hostTools = contribute();
  #excluded = contribute();
  #registry: Registry | undefined;
  #builtInNames: string[] = [];
  /** The labels of the servers that calls need; `undefined` for all. */
  #needed: ReadonlySet<string> | undefined;
  #isForCalls = false;
  #completing: Promise<SessionState> | undefined;
  #users = 0;

  /** `problems` come first in the problems of the states. */
  constructor(context: StateContext, problems: readonly Problem[]) {
    this.#context = context;
    this.#servers = new StateServers(context, this.#port);
    this.#problems = [...problems];
  }

  get config(): SessionConfig {
    return this.#context.config;
  }

  get found(): FoundPacks {
    if (this.#found === undefined) throw new Error("The project has not been read.");
    return this.#found;
  }

  get servers(): PlannedServer[] {
    return [...this.#own, ...this.#packs.flatMap(({ servers }) => servers)];
  }

  /** `started` resolves when each server has started or failed, and rejects if one fails that the session needs. */
  async read(): Promise<{ started: Promise<unknown> }> {
    const { frame, config, before } = this.#context;
    const { options, resources } = frame;
    const { only } = frame.rules;
    const follows = options.watch === true;
    const port = this.#port;
    const { calls = [], toolsets } = options;
    this.#needed = toolsets === undefined ? findNeededServers(calls, config) : undefined;
    this.#isForCalls = this.#needed !== undefined;
    const gate = await resources.step(this.#context.openGate());
    this.#servers.gate = gate;
    const startOwn = async () => {
      this.#own = await resources.step(this.#servers.startOwn((server) => this.#isNeeded(server)));
    };
    // The servers of the config start while packs are found, unless the state may be refused.
    const startsEarly = before === undefined && gate?.isFrozen !== true;
    if (startsEarly) await startOwn();
    const ownStarted = () => Promise.all(this.#own.map((one) => this.#servers.whenStarted(one)));
    const early = startsEarly ? ownStarted() : undefined;
    early?.catch(() => {});

    const found = await resources.step(findPacks(port, { cwd: frame.cwd, policy: config.packs }));
    const named = only?.pack === undefined ? calls.filter((one) => isQualifiedName(one)) : [only.label];
    // What is named so takes a pack that the project does not declare.
    for (const name of named) await resources.step(lookUpSubject(port, found, name));
    if (before !== undefined) refuseIncompleteProject(found, before.used);
    this.#found = found;
    if (follows) this.used = findUsedPackages(found, config);
    const relevant = found.packs.filter(({ pack }) => only === undefined || pack.qualifiedName === only.pack);
    if (only === undefined) this.#problems.push(...found.problems);
    this.#problems.push(...relevant.flatMap(({ pack }) => pack.problems));
    // A pack with an unreadable field has no items that could be checked.
    for (const { pack } of relevant) {
      const isOwn = isDeclaredOrigin(pack.origin) && !pack.shadowed;
      const isLetIn = isAllowed(config.packs, pack.qualifiedName);
      if (isOwn && isLetIn) this.#failForErrors(pack.problems);
    }
    const selection = await resources.step(
      selectPacks(port, found, { references: referencesOf(config), only }, async (pack) => {
        const { loadDefinitions } = await import("../inspection/load-definitions.ts");
        return loadDefinitions(port, pack.found, { only: pack.selected });
      }),
    );
    const manager = managerIn(port, found.workspace);
    const packs: CheckedPack[] = [];
    const installed: CheckedPack[] = [];
    for (const inspected of selection.selected) {
      const { checkPack } = await import("../validate/check-packs.ts");
      const valid = await resources.step(checkPack(port, inspected, manager));
      const checked = gate?.checkPack(valid) ?? valid;
      installed.push(valid);
      this.#problems.push(...checked.problems);
      this.#failForErrors([...inspected.pack.problems, ...checked.problems]);
      packs.push(checked);
    }
    if (before !== undefined)
      refuseIncompletePacks(installed, { used: before.used, packs: before.installed });
    this.installed = installed;
    if (gate?.isFrozen) for (const server of config.subprocessServers) gate.checkServer(server);
    // What is left of the lock is about others.
    if (only === undefined) this.#problems.push(...(gate?.finish(found) ?? []));
    const skipped = [
      ...selection.excluded.filter(isCallable).map(describeExcluded),
      ...collectVanished(packs.flatMap(({ problems }) => problems)),
    ];
    this.#excluded = contribute({ skipped });
    if (!startsEarly) await startOwn();
    this.#packs = packs.map((checked) => {
      const { inspected } = checked;
      const { pack } = inspected;
      const content = follows ? { content: hashPackCode(port, inspected) } : {};
      const owner: CodeOwner = { pack, root: pack.location, ...content };
      return { checked, owner, offered: [collectPack(checked, config, owner)], servers: [] };
    });
    if (this.#needed === undefined) await resources.step(this.#startPacks());
    const ofPacks = this.#packs.flatMap(({ servers }) => servers);
    const started = Promise.all([
      early ?? ownStarted(),
      ...ofPacks.map((one) => this.#servers.whenStarted(one)),
    ]);
    started.catch(() => {});
    await this.#collectCode();
    return { started };
  }

  /** Reads the built-ins, and the bundles of packs, which run the code of other tools. */
  async #collectCode(): Promise<void> {
    const { config, frame } = this.#context;
    const { options, resources } = frame;
    const given = await checkBuiltIns(options.builtIns ?? []);
    const builtIns: OwnTool[] = [
      ...config.builtIns.map((definition, index) => ({ definition, path: ["builtIns", index] })),
      ...given.map((definition) => ({ definition, path: undefined })),
    ];
    this.#builtInNames = builtIns.map(({ definition }) => String(definition.name));
    const registry = this.#createRegistry(this.found);
    this.#registry = registry;
    if (builtIns.length > 0) this.#hostTools = await resources.step(this.#collectOwn(builtIns));
    const ofPacks = this.#packs.flatMap(({ offered }) => offered);
    this.#failForErrors(ofPacks.flatMap(({ problems }) => problems));
    const code = indexCode([this.#hostTools, ...ofPacks]);
    const refusals = findRefusals(this.#packs.map(({ checked }) => checked));
    for (const { checked, owner, offered } of this.#packs) {
      const bundles = await resources.step(collectBundles({ ...checked, owner }, code, registry, refusals));
      this.#failForErrors(bundles.problems);
      offered.push(bundles);
    }
    this.#holdCode();
  }

  async #collectOwn(builtIns: readonly OwnTool[]): Promise<Contribution> {
    const { config } = this.#context;
    const { checkOwnHandlers } = await import("../validate/check-packs.ts");
    const definitions = builtIns.map(({ definition }) => definition);
    const faults = await checkOwnHandlers(this.#port, config.directory, definitions);
    const { collectOwnTools } = await import("./own-tools.ts");
    return collectOwnTools(builtIns, config, faults);
  }

  /** Notes a user of what was started. After the last one has called the returned function, it is released. */
  use(): () => void {
    this.#users += 1;
    return () => {
      this.#users -= 1;
      if (this.#users === 0) this.release();
    };
  }

  /** Ends what no other sources hold. */
  release(): void {
    this.#servers.release();
    for (const release of this.#releases.splice(0)) release();
  }

  /** Keeps the runners of packs' code. The code is loaded now, because its files may be replaced. */
  #holdCode(): void {
    const { frame, processes } = this.#context;
    if (frame.options.watch !== true) return;
    for (const { owner } of this.#packs) this.#releases.push(processes.runners.hold(owner));
    const offered = this.#packs.flatMap((one) => one.offered);
    for (const { route } of offered.flatMap((one) => one.candidates)) {
      if (route.by !== "code" || route.code.owner.pack === undefined) continue;
      const { owner, handler } = route.code;
      processes.runners
        .get(owner)
        .then((runner) => runner.load(handler))
        // The first call reports it.
        .catch(() => {});
    }
  }

  #isNeeded({ name }: UserServer): boolean {
    return this.#needed === undefined || this.#needed.has(name);
  }

  /** Excludes a broken item of a pack, or throws if the config says so. */
  #failForErrors(problems: readonly Problem[]): void {
    if (!this.#servers.needsPacks) return;
    const broken = problems.find(makesUnusable);
    if (broken !== undefined) throw new TrailblazeError(broken);
  }

  async #startPacks(): Promise<void> {
    const start = async (pack: ReadPack) => {
      pack.servers = await this.#servers.startPack(pack.checked);
    };
    await Promise.all(this.#packs.map(start));
  }

  /** Starts the servers that the calls of the session did not need, for one that needs them after all. */
  async #startOthers(): Promise<void> {
    const others = await this.#servers.startOwn((server) => !this.#isNeeded(server));
    const byLabel = new Map([...this.#own, ...others].map((one) => [one.plan.label, one]));
    this.#own = this.config.subprocessServers.flatMap(({ name }) => byLabel.get(name) ?? []);
    await this.#startPacks();
    const { resources } = this.#context.frame;
    await resources.step(Promise.allSettled(this.servers.map((one) => one.server.ready)));
    this.#needed = undefined;
  }

  /** What every source contributes now, in the order of the session's tools. */
  #contribute(): Contribution[] {
    const collect = (servers: readonly PlannedServer[]) => servers.map((one) => this.#servers.collect(one));
    const ofPacks = this.#packs.flatMap(({ offered, servers }) => [...offered, ...collect(servers)]);
    const { refused } = this.#servers;
    const all = [this.#hostTools, ...collect(this.#own), refused, ...ofPacks, this.#excluded];
    // A state names its tools itself.
    return all.map((one) => ({
      ...one,
      candidates: one.candidates.map((candidate) => ({ ...candidate, tool: { ...candidate.tool } })),
      prompts: one.prompts.map((candidate) => ({ ...candidate, prompt: { ...candidate.prompt } })),
    }));
  }

  /** What the lock says about a server; `undefined` for one of other sources, or without a lock. */
  approvalOf(server: SessionServer) {
    return this.servers.find((one) => one.server === server)?.approval;
  }

  /**
   * A state with the tools of the servers that have started, and of those that start when they are needed. Throws `TrailblazeError`: `NameCollision`, and
   * `ToolsetNotFound` unless a server could still provide the toolset or `previous` exists. `publish` takes a state again.
   */
  async createState(
    previous: SessionState | undefined,
    publish: () => Promise<SessionState>,
  ): Promise<SessionState> {
    const { config, frame } = this.#context;
    const { options, resources, rules } = frame;
    const { only } = rules;
    const registry = this.#registry;
    if (registry === undefined) throw new Error("The tools have not been collected.");
    const contributions = this.#contribute();
    const packs = this.#packs.map(({ checked }) => checked);
    const isLazy = this.#needed !== undefined;
    const isPending = this.servers.some(
      ({ server, approval }) => server.lists === undefined && !server.fault && !approval?.isLazy,
    );
    const candidates = contributions.flatMap((one) => one.candidates);
    const { nameCollisions } = config;
    const { fitting: registered, skipped: unfit } = selectFitting(
      candidates,
      only === undefined ? config : undefined,
    );
    const prompts = contributions.flatMap((one) => one.prompts);
    const { renamed, collision } = giveNames(registered, nameCollisions);
    const collisions = [collision, giveNames(prompts, nameCollisions, "prompt").collision];
    const [collided] = collisions.filter((one) => one !== undefined);
    // A session for known calls names no tool by a name that others have, too.
    if (collided !== undefined && !this.#isForCalls) throw collided;
    const context: NameContext = {
      config,
      registry,
      skipped: [...contributions.flatMap((one) => one.skipped), ...unfit],
      explainPackage: (name) => explainPackage(this.#port, config.project, name),
    };
    const names = new Names("tool", registered, context);
    const collected = collectToolsets({ config, packs, registered, names, renamed, registry });
    const problems = contributions.flatMap((one) => one.problems);
    if (collided !== undefined && !isLazy) problems.push(collided.problem);
    // A problem without a pack is in the config, or in the options.
    const isOfConfig = ({ pack, path }: Problem) => pack === undefined && path !== undefined;
    // Toolsets may refer to tools of servers that have not started, and patterns match them.
    const isComplete = !isLazy && !isPending && only === undefined;
    const ofConfig = [...problems.filter(isOfConfig), ...(isComplete ? collected.configProblems : [])];
    const unmatched = isComplete ? await this.#findUnmatched(packs, contributions) : [];
    const { toolsets } = collected;
    for (const { tool } of registered) {
      tool.toolsets = toolsets.filter(({ tools }) => tools.includes(tool.name)).map(({ name }) => name);
    }
    return new SessionState({
      ...context,
      candidates: registered,
      prompts,
      skippedPrompts: contributions.flatMap((one) => one.skippedPrompts),
      resources: contributions.flatMap((one) => one.resources),
      resourceServers: contributions.flatMap((one) => one.resourceServer ?? []),
      toolsets,
      shownToolsets: findShownToolsets(options.toolsets, toolsets, {
        mustExist: previous === undefined && !isPending,
      }),
      problems: [
        // First, because a `deny` that matches nothing excludes nothing.
        ...(await resources.step(locateInConfig(unmatched, config.text))),
        ...this.#problems,
        ...problems.filter((problem) => !isOfConfig(problem)),
        ...(isComplete ? collected.problems : []),
        ...(await resources.step(locateInConfig(ofConfig, config.text))),
      ],
      servers: collectEntries(
        config,
        packs,
        [...this.#excluded.skipped, ...this.#servers.refused.skipped],
        this.servers,
      ),
      instructions: only && this.servers.flatMap((one) => this.#servers.instructionsOf(one) ?? [])[0],
      packs: this.#packs.map(({ checked, owner }) => ({ ...checked, owner })),
      startOthers: isLazy
        ? () => {
            this.#completing ??= this.#startOthers().then(publish);
            return this.#completing;
          }
        : undefined,
    });
  }

  /** The patterns of the config that match nothing installed: walks only if some match nothing that was read. */
  async #findUnmatched(packs: readonly CheckedPack[], contributions: readonly Contribution[]) {
    const { config, frame } = this.#context;
    const { cwd } = frame;
    const find = (found: FoundPacks) =>
      findUnmatchedPatterns({
        config,
        found: found.packs,
        packs,
        contributions,
        registry: this.#createRegistry(found),
      });
    const unmatched = find(this.found);
    if (unmatched.length === 0) return unmatched;
    return find(await findPacks(this.#port, { cwd, policy: config.packs, all: true }));
  }

  #createRegistry(found: FoundPacks): Registry {
    const manager = managerIn(this.#port, found.workspace);
    return createRegistry(
      found.packs.map(({ pack }) => pack),
      { builtIns: this.#builtInNames, manager },
    );
  }
}

/** The error for a package that is installed: it is not a pack, or not declared. `undefined` for other names. */
function explainPackage(port: InspectionPort, project: string, name: string): TrailblazeError | undefined {
  const folder = resolveFrom(port, project, name);
  const read = readUsableManifest(port, folder);
  if (read === undefined) return undefined;
  if (read.value.trailblaze !== undefined)
    return failure("PackNotInstalled", { name, isUndeclared: true }, { pack: name });
  return failure("ExtensionNotFound", { name, mayBeServer: readBins(name, read.value).size > 0 });
}
