import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { checkBuiltIns } from "../config/check-built-ins.ts";
import { locateInConfig } from "../config/config-file.ts";
import { isAllowed, isToolAllowed } from "../config/packs-policy.ts";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig, UserServer } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createInspectionPorts } from "../inspection/inspection-ports.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import type { Registry } from "../qualified-names/create-registry.ts";
import { createRegistry } from "../qualified-names/create-registry.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { notifyHost } from "../runtime/late-reports.ts";
import { planPackServer, planUserServer } from "../runtime/server-launches.ts";
import { checkOwnHandlers } from "../validate/check-own-tools.ts";
import { type CheckedPack, checkPack, makesUnusable } from "../validate/check-packs.ts";
import { collectToolsets } from "./collect-toolsets.ts";
import {
  collectFailedServer,
  collectRemoteServers,
  collectUnusableServers,
  describeExcluded,
  findShownToolsets,
  isCallable,
} from "./excluded.ts";
import { registerMoreTools, registerTools } from "./register-tools.ts";
import { describeServers, referencesOf, selectPacks } from "./select-packs.ts";
import { findNeededServers } from "./server-of-reference.ts";
import { Session } from "./session.ts";
import { SessionMemory } from "./session-memory.ts";
import { applyOptions, type CommandSessionOptions } from "./session-options.ts";
import { SessionProcesses } from "./session-processes.ts";
import { SessionResources } from "./session-resources.ts";
import type { SessionServer } from "./session-servers.ts";
import type { RecordedCall, ToolCandidate } from "./session-tool.ts";
import { ToolCalls, type ToolCallsOptions, type ToolLog } from "./tool-calls.ts";
import {
  type Contribution,
  collectBundles,
  collectOwnTools,
  collectPackTools,
  collectServerTools,
  indexCode,
  type OwnTool,
} from "./tool-candidates.ts";
import { findUnmatchedPatterns } from "./unmatched-patterns.ts";

/** Whether a failing server of the config rejects the start, or is reported (for `doctor`, which shows all problems). */
export interface OpeningRules {
  userServers: "needed" | "reported";
  /** Installs packs that the session would miss; resolves with problems. */
  installMissing?(config: SessionConfig): Promise<readonly Problem[]>;
}

/** Opens one session. Holds what it has started, so that a failed start ends all of it. */
class Opening {
  readonly #inspection = createInspectionPorts();
  readonly #options: CommandSessionOptions;
  readonly #rules: OpeningRules;
  readonly #config: SessionConfig;
  readonly #id = randomUUID();
  readonly #resources = new SessionResources();
  readonly #problems: Problem[] = [];
  readonly #recording: RecordedCall[] = [];
  readonly #memory: SessionMemory;
  readonly #processes: SessionProcesses;
  #calls: ToolCalls | undefined;

  constructor(
    config: SessionConfig,
    options: CommandSessionOptions,
    rules: OpeningRules,
    problems: readonly Problem[],
  ) {
    this.#problems.push(...config.problems, ...problems);
    this.#rules = rules;
    this.#options = options;
    this.#config = config;
    this.#memory = new SessionMemory(config.memory, config.sensitiveMemory);
    this.#processes = new SessionProcesses({
      sessionId: this.#id,
      config,
      memory: this.#memory,
      resources: this.#resources,
      onCommand: options.onCommand,
      haste: options.signal,
      report: (problem) => this.#reportLater(problem),
      log: (entry) => this.#log(entry),
    });
  }

  async open(cwd: string): Promise<Session> {
    const resources = this.#resources;
    const { signal } = this.#options;
    const aborted = new Promise<never>((_resolve, reject) => {
      whenAborted(resources.closing, () => reject(resources.closing.reason));
    });
    aborted.catch(() => {});
    try {
      if (signal !== undefined) resources.follow(signal);
      // After an abort, `#open` stops at its next step, because the session is closed.
      return await Promise.race([this.#open(cwd), aborted]);
    } catch (error) {
      await resources.close(error);
      throw error;
    }
  }

  async #open(cwd: string): Promise<Session> {
    const config = this.#config;
    if (config.callback.enabled) {
      const { openCallbackEndpoint } = await import("../callback/callback-endpoint.ts");
      const callback = await openCallbackEndpoint({
        sessionId: this.#id,
        limits: config.callback,
        dispatch: async (call) =>
          this.#calls?.callFromServer(call) ?? { success: false, errorMessage: "The session is starting." },
      });
      this.#resources.add(() => callback.close());
      this.#processes.callback = callback;
    }
    const { calls = [], toolsets } = this.#options;
    const needed = toolsets === undefined ? findNeededServers(calls, config) : undefined;
    const isNeeded = ({ name }: UserServer) => needed === undefined || needed.has(name);
    // The config's servers start while packs are found.
    const own = await this.#resources.step(this.#startOwnServers(isNeeded));
    const ownReady = Promise.all(
      own.map((server) => {
        const ready = this.#whenReady(server);
        return this.#rules.userServers === "needed" ? ready : ready.catch(() => undefined);
      }),
    );
    ownReady.catch(() => {});

    const inspection = this.#inspection;
    const found = await this.#resources.step(findPacks(inspection.port, { cwd, policy: config.packs }));
    this.#problems.push(...found.problems, ...found.packs.flatMap(({ pack }) => pack.problems));
    // A pack with an unreadable field has no items that could be checked.
    for (const { pack } of found.packs) {
      const isOwn = pack.origin !== "transitive" && pack.origin !== "global" && !pack.shadowed;
      const isLetIn = isAllowed(config.packs, pack.qualifiedName, [], { isTransitive: false });
      if (isOwn && isLetIn) this.#failForErrors(pack.problems);
    }
    const selection = await this.#resources.step(
      selectPacks(found.packs, config.packs, referencesOf(config), (pack) =>
        loadDefinitions(inspection.port, pack.found, {
          only: pack.selected,
          createEvaluator: () => inspection.createEvaluator({}),
        }),
      ),
    );
    const packs: CheckedPack[] = [];
    for (const inspected of selection.selected) {
      const checked = await this.#resources.step(checkPack(inspection.port, inspected, found));
      this.#problems.push(...checked.problems);
      this.#failForErrors([...inspected.pack.problems, ...checked.problems]);
      packs.push(checked);
    }
    const packServers = packs.map((pack) => (needed === undefined ? this.#startPackServers(pack) : []));
    // A failing server of the config fails the session immediately.
    await this.#resources.step(
      Promise.all([ownReady, ...packServers.flat().map(({ ready }) => this.#unlessFatal(ready))]),
    );

    const given = await checkBuiltIns(this.#options.builtIns ?? []);
    const builtIns: OwnTool[] = [
      ...config.builtIns.map((definition, index) => ({ definition, path: ["builtIns", index] })),
      ...given.map((definition) => ({ definition, path: undefined })),
    ];
    const registry = createRegistry(
      found.packs.map(({ pack }) => pack),
      { builtIns: builtIns.map(({ definition }) => String(definition.name)), manager: found.manager },
    );
    const definitions = builtIns.map(({ definition }) => definition);
    const faults = await this.#resources.step(
      checkOwnHandlers(inspection.port, config.directory, definitions),
    );
    const hostTools = collectOwnTools(builtIns, config, faults);
    const packTools = packs.map((pack) => collectPackTools(pack, config));
    this.#failForErrors(packTools.flatMap(({ problems }) => problems));
    const code = indexCode([hostTools, ...packTools]);
    const contributions: Contribution[] = [hostTools];
    for (const server of own) contributions.push(await this.#collect(server));
    for (const [index, pack] of packs.entries()) {
      const from = pack.inspected.pack;
      const resolveTool = (reference: string) =>
        registry.resolve(reference, { from, kind: "tool" }).qualifiedName;
      contributions.push(packTools[index] ?? { candidates: [], skipped: [], problems: [] });
      const bundles = await this.#resources.step(collectBundles(pack, code, resolveTool));
      this.#failForErrors(bundles.problems);
      contributions.push(bundles);
      contributions.push(collectUnusableServers(pack));
      contributions.push(...(await this.#collectPackServers(pack, packServers[index] ?? [])));
    }
    const excluded: Contribution = {
      candidates: [],
      skipped: [
        ...collectRemoteServers(config),
        ...selection.excluded.filter(isCallable).map(describeExcluded),
      ],
      problems: [],
    };
    const all = [...contributions, excluded];
    const others =
      needed &&
      (async () => {
        const later = await this.#startOwnServers((server) => !isNeeded(server));
        const ofPacks = packs.map((pack) => this.#collectPackServers(pack, this.#startPackServers(pack)));
        const collected = later.map((server) => this.#collect(server));
        return [...(await Promise.all(collected)), ...(await Promise.all(ofPacks)).flat()];
      });
    if (others === undefined) {
      const sources = { config, found: found.packs, packs, contributions: all, registry };
      const unmatched = findUnmatchedPatterns(sources);
      // First, because a `deny` that matches nothing excludes nothing.
      this.#problems.unshift(...(await this.#resources.step(locateInConfig(unmatched, config.text))));
    }
    return this.#register(all, packs, registry, others);
  }

  /** Excludes a broken item of a pack, or throws if the config says so. */
  #failForErrors(problems: readonly Problem[]): void {
    if (this.#config.packs.onError !== "fail") return;
    const broken = problems.find(makesUnusable);
    if (broken !== undefined) throw new TrailblazeError(broken);
  }

  /** Reports a problem of a server or of code, which can occur at any time. */
  #reportLater(problem: Problem): void {
    this.#problems.push(problem);
    // Before the session is open, the problem is part of its list.
    const { onProblem } = this.#options;
    if (this.#calls !== undefined && onProblem !== undefined) notifyHost(() => onProblem(problem));
  }

  async #startOwnServers(isWanted: (server: UserServer) => boolean): Promise<SessionServer[]> {
    const config = this.#config;
    const { port } = this.#inspection;
    const wanted = config.subprocessServers.filter(isWanted);
    const plans = await Promise.all(wanted.map((server) => planUserServer(port, server, config)));
    return plans.map((plan) => this.#processes.startServer(plan));
  }

  #startPackServers({ inspected, unusable }: CheckedPack): SessionServer[] {
    return inspected.items
      .filter((item) => item.shape === "subprocessServer" && !unusable.has(item))
      .map((item) => this.#processes.startServer(planPackServer(this.#inspection.port, inspected, item)));
  }

  /** Adds the place in the config to the failure of a server that the config defines. */
  async #whenReady({ ready, plan }: SessionServer): Promise<unknown> {
    try {
      return await ready;
    } catch (error) {
      if (!(error instanceof TrailblazeError) || plan.configPath === undefined) throw error;
      const path = error.problem.path ?? plan.configPath;
      const [problem] = await locateInConfig([{ ...error.problem, path }], this.#config.text);
      throw new TrailblazeError(problem ?? error.problem);
    }
  }

  /** Excludes a pack's server that fails to start, or throws if the config says so. */
  async #unlessFatal(ready: Promise<unknown>): Promise<void> {
    await ready.catch((error: unknown) => {
      if (this.#config.packs.onError === "fail") throw error;
    });
  }

  /** The tools of a pack's servers that the policy allows. */
  async #collectPackServers({ inspected }: CheckedPack, servers: readonly SessionServer[]) {
    const describe = describeServers(inspected);
    const { packs } = this.#config;
    const collected = servers.map((server) => {
      const described = describe(server.plan.source.item ?? "");
      return this.#collect(server, (tool) => isToolAllowed(packs, described, tool));
    });
    return Promise.all(collected);
  }

  async #collect(server: SessionServer, isAllowed?: (tool: string) => boolean): Promise<Contribution> {
    try {
      return collectServerTools(server, (await server.ready).tools, isAllowed);
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      return collectFailedServer(server.plan, error.problem);
    }
  }

  async #register(
    contributions: readonly Contribution[],
    packs: readonly CheckedPack[],
    registry: Registry,
    others: (() => Promise<Contribution[]>) | undefined,
  ): Promise<Session> {
    const config = this.#config;
    const candidates = contributions.flatMap((one) => one.candidates);
    const { registered, skipped, renamed } = registerTools(candidates, config, config.nameCollisions);
    const collected = collectToolsets({ config, packs, registered, renamed, registry });
    const problems = contributions.flatMap((one) => one.problems);
    // A problem without a pack is in the config, or in the options.
    const isOfConfig = ({ pack, path }: Problem) => pack === undefined && path !== undefined;
    // A toolset may refer to tools of servers that have not started.
    const ofToolsets = others === undefined ? collected.configProblems : [];
    const ofConfig = [...problems.filter(isOfConfig), ...ofToolsets];
    this.#problems.push(
      ...problems.filter((problem) => !isOfConfig(problem)),
      ...(others === undefined ? collected.problems : []),
      ...(await this.#resources.step(locateInConfig(ofConfig, config.text))),
    );
    const { toolsets } = collected;
    for (const { tool } of registered) {
      tool.toolsets = toolsets.filter(({ tools }) => tools.includes(tool.name)).map(({ name }) => name);
    }
    return new Session({
      id: this.#id,
      logDir: this.#processes.logDir,
      candidates: registered,
      toolsets,
      shownToolsets: findShownToolsets(this.#options.toolsets, toolsets),
      skipped: [...contributions.flatMap((one) => one.skipped), ...skipped],
      problems: this.#problems,
      memory: this.#memory,
      registry,
      config,
      startOthers: others && (() => this.#registerOthers(registered, others)),
      recording: this.#recording,
      resources: this.#resources,
      createCalls: (find) => this.#createCalls(find),
    });
  }

  /** Starts the servers that the calls of the session did not need, for a call that needs them after all. */
  async #registerOthers(registered: readonly ToolCandidate[], start: () => Promise<Contribution[]>) {
    const config = this.#config;
    const contributions = await this.#resources.step(start());
    const candidates = contributions.flatMap((one) => one.candidates);
    const { added, skipped, collision } = registerMoreTools(
      registered,
      candidates,
      config,
      config.nameCollisions,
    );
    const problems = contributions.flatMap((one) => one.problems);
    if (collision !== undefined) problems.push(collision.problem);
    for (const problem of problems) this.#reportLater(problem);
    return { candidates: added, skipped: [...contributions.flatMap((one) => one.skipped), ...skipped] };
  }

  #createCalls(find: ToolCallsOptions["resolve"]): ToolCalls {
    this.#calls = new ToolCalls({
      config: this.#config,
      own: {
        sessionId: this.#id,
        memory: this.#memory,
        record: (name, args) => this.#recording.push({ [name]: this.#memory.redact(args) }),
        log: (entry) => this.#log(entry),
      },
      runners: this.#processes.runners,
      callback: this.#processes.callback,
      validator: once(async () => {
        const { createSchemaValidator } = await import("../json-schema/schema-validator.ts");
        return createSchemaValidator();
      }),
      closing: this.#resources.closing,
      resolve: find,
    });
    return this.#calls;
  }

  #log(entry: ToolLog): void {
    notifyHost(() => this.#options.onLog?.({ ...entry, data: this.#memory.redact(entry.data) }));
  }
}

function once<Value>(create: () => Promise<Value>): () => Promise<Value> {
  let created: Promise<Value> | undefined;
  return () => {
    created ??= create();
    return created;
  };
}

/** Opens a session: discovers, loads, starts every server at once, filters, and registers in one step. */
export async function openSessionByRules(
  options: CommandSessionOptions,
  rules: OpeningRules,
): Promise<Session> {
  const cwd = resolve(options.cwd ?? process.cwd());
  options.signal?.throwIfAborted();
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const config = await readConfig(port, { directory, config: options.config, cwd });
  const missing = (await rules.installMissing?.(config)) ?? [];
  return new Opening(applyOptions(config, options), options, rules, missing).open(cwd);
}
