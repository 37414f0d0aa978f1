import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { BuiltInDefinition, SessionConfig } from "../config/session-config.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import { failure, type Problem, TrailblazeError } from "../problems/index.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { numberNames } from "../qualified-names/advertised-names.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import { CodeRunners, createRunner } from "../runtime/code-runners.ts";
import { createPackEnvironment } from "../runtime/server-environment.ts";
import { type CodePlace, type OutcomeRunner, placeOfCode } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { OpenCalls } from "../session/call.ts";
import { collectOwnTools } from "../session/own-tools.ts";
import { Recording } from "../session/recording.ts";
import { Requests } from "../session/requests.ts";
import { ServerStates } from "../session/server-states.ts";
import { Session } from "../session/session.ts";
import { SessionMemory } from "../session/session-memory.ts";
import type { PromptCandidate } from "../session/session-prompts.ts";
import type { ResourceCandidate } from "../session/session-reads.ts";
import { SessionResources } from "../session/session-resources.ts";
import { SessionState } from "../session/session-state.ts";
import type { ToolCandidate } from "../session/session-tool.ts";
import { ToolCalls } from "../session/tool-calls.ts";
import { collectBundles, collectPack, indexCode } from "../session/tool-candidates.ts";
import type { ComposedServer } from "./compose-server.ts";
import { logToStderr } from "./transports.ts";

/** What a composed server needs to run its members. */
export interface MemberOptions {
  config: SessionConfig;
  builtIns: readonly BuiltInDefinition[];
  /** Also offers tools that need a session or are not for models. */
  allTools: boolean;
  /** Reports to the operator what clients are not told. */
  report(message: string): void;
}

/** An `initialize` function and its owner. */
interface Initializer {
  name: string;
  owner: CodeOwner;
  place: CodePlace;
  options: Readonly<Record<string, unknown>>;
}

/** The members of a server, in its order. */
interface Members {
  tools: ToolCandidate[];
  prompts: PromptCandidate[];
  resources: ResourceCandidate[];
  packs: SessionState["packs"];
}

const isError = ({ severity }: Problem) => severity === "error";

/** Collects the members of a server. Throws `TrailblazeError` for a bundle or a built-in that cannot be served. */
async function collectMembers(
  { members, builtIns: wanted, packs: checked, refusals, registry }: ComposedServer,
  { config, builtIns }: MemberOptions,
): Promise<Members> {
  const packs = checked.map((one) => {
    const { pack } = one.inspected;
    return { ...one, owner: { pack, root: pack.location } };
  });
  const own = collectOwnTools(
    builtIns
      .filter(({ name }) => wanted.has(String(name)))
      .map((definition) => ({ definition, path: undefined })),
    config,
    new Map(),
  );
  const ofPacks = packs.map((pack) => collectPack(pack, config, pack.owner));
  const code = indexCode([own, ...ofPacks]);
  const bundles = await Promise.all(
    packs.map((one) => {
      const from = one.inspected.pack;
      const resolve = (reference: string) =>
        registry.resolve(reference, { from, kind: "tool" }).qualifiedName;
      return collectBundles(one, one.owner, code, resolve, refusals);
    }),
  );
  const faults = [
    ...bundles.flatMap(({ problems }) => problems),
    ...(own.skipped.length > 0 ? own.problems : []),
  ];
  const broken = faults.find(isError);
  if (broken !== undefined) throw new TrailblazeError(broken);
  const candidates = [own, ...ofPacks, ...bundles].flatMap((one) => one.candidates);
  const prompts = ofPacks.flatMap((one) => one.prompts);
  const resources = ofPacks.flatMap((one) => one.resources);
  return {
    tools: members.tools.flatMap((member) => {
      if (member.type === "bundle")
        return candidates.filter(({ bundle }) => bundle === member.item.qualifiedName);
      const name = member.type === "builtIn" ? member.name : member.item.qualifiedName;
      return candidates.filter(({ tool }) => tool.qualifiedName === name);
    }),
    prompts: members.prompts.flatMap(({ qualifiedName }) =>
      prompts.filter(({ prompt }) => prompt.qualifiedName === qualifiedName),
    ),
    resources: members.resources.flatMap((item) =>
      resources.filter(({ route }) => route.by === "code" && route.resource.item === item),
    ),
    packs,
  };
}

/** The server's `initialize` function, then its tools' in their order. */
function findInitializers(
  { origin, name: label }: ComposedServer,
  tools: readonly ToolCandidate[],
): Initializer[] {
  const found: (Omit<Initializer, "place"> & { place: CodePlace | undefined })[] = [];
  if (origin !== undefined) {
    const { item, pack } = origin;
    const owner = { pack, root: pack.location };
    const place = placeOfCode(item.definition?.initialize, owner.root, "initialize", item);
    found.push({ name: item.qualifiedName, owner, place, options: {} });
  }
  for (const { tool, route } of tools) {
    if (route.by !== "code") continue;
    const { owner, initialize: place, options } = route.code;
    found.push({ name: tool.qualifiedName ?? label, owner, place, options });
  }
  return found.filter((one): one is Initializer => one.place !== undefined);
}

/** The runners of the members' code. Each runs its owner's `initialize` functions before it is used, a new one after an exit, too. */
class MemberRunners extends CodeRunners {
  readonly #initializers: readonly Initializer[];
  readonly #initialized = new WeakMap<Promise<OutcomeRunner>, Promise<OutcomeRunner>>();

  constructor({ isolation }: SessionConfig, initializers: readonly Initializer[]) {
    const processes = createProcessPort();
    const { env: hostEnvironment, platform } = process;
    const facts = { hostEnvironment, platform, device: undefined, sessionId: undefined, callback: undefined };
    super(async (owner) => {
      const { pack, root } = owner;
      const onLateError = (message: string) =>
        logToStderr(`${pack?.qualifiedName ?? "the host"}: ${message}`);
      const env = createPackEnvironment({ ...facts, toolsetFile: join(root, "package.json") }, {});
      const onOutput = (chunk: Buffer) => logToStderr(chunk.toString());
      const child = pack !== undefined && isolation === "process" ? { env, onOutput, processes } : undefined;
      const runner = await createRunner({ root, trusted: pack === undefined, child, onLateError });
      // A server outlives the exit: the next call starts a new child.
      void runner.exit?.then(() => this.forget(owner));
      return runner;
    });
    this.#initializers = initializers;
  }

  override get(owner: CodeOwner): Promise<OutcomeRunner> {
    const created = super.get(owner);
    const known = this.#initialized.get(created);
    if (known !== undefined) return known;
    const initialized = this.#initialize(owner, created);
    this.#initialized.set(created, initialized);
    initialized.catch(() => this.#initialized.delete(created));
    return initialized;
  }

  async #initialize(owner: CodeOwner, created: Promise<OutcomeRunner>): Promise<OutcomeRunner> {
    const runner = await created;
    for (const { name, place, options, ...one } of this.#initializers) {
      if (one.owner.pack?.location !== owner.pack?.location) continue;
      await runner.initialize(place, { options }).catch((error) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw failure("InitializeFailed", { name, reason });
      });
    }
    return runner;
  }

  /** Runs every `initialize`, and loads the modules of built-ins. Throws `InitializeFailed` or `HandlerNotFound`. */
  async begin(tools: readonly ToolCandidate[]): Promise<void> {
    for (const { route } of tools) {
      // Handlers of packs were found when their definitions were checked.
      if (route.by !== "code" || route.code.owner.pack !== undefined) continue;
      const { owner, handler } = route.code;
      if (handler.source.from !== "module") continue;
      const { handler: written } = handler.source;
      const runner = await super.get(owner);
      await runner.load?.(handler).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw failure("HandlerNotFound", { handler: written, reason });
      });
    }
    for (const { owner } of this.#initializers) await this.get(owner);
  }
}

/** The resources without those whose URI another one has, which is read. */
function dropRepeated(resources: readonly ResourceCandidate[], report: MemberOptions["report"]) {
  const seen = new Set<string>();
  return resources.filter(({ resource: { uri, uriTemplate = "" }, route }) => {
    const known = uri ?? uriTemplate;
    if (!seen.has(known)) return seen.add(known);
    const name = route.by === "code" ? route.resource.item.qualifiedName : known;
    report(`DuplicateResourceUri: ${name} is left out: ${known} is served already`);
    return false;
  });
}

/**
 * Opens a session of the members of a composed server: without device and memory, with numbers at names that several have. Rejects
 * with `TrailblazeError`: `InitializeFailed`, `HandlerNotFound`, or what is wrong with a bundle.
 */
export async function openMemberSession(
  server: ComposedServer,
  options: MemberOptions,
  signal: AbortSignal,
): Promise<Session> {
  const { allTools, report } = options;
  const config: SessionConfig = { ...options.config, device: undefined, memory: new Map() };
  const { tools, prompts, resources, packs } = await collectMembers(server, options);
  const offered = tools.filter(({ meta }) => allTools || (meta.isForLlm && !meta.requiresContext));
  const toolNames = numberNames(offered.map(({ tool }) => tool.name));
  for (const [index, { tool }] of offered.entries()) tool.name = toolNames[index] ?? tool.name;
  const promptNames = numberNames(prompts.map(({ prompt }) => prompt.name));
  for (const [index, { prompt }] of prompts.entries()) prompt.name = promptNames[index] ?? prompt.name;
  const state = new SessionState({
    config,
    candidates: offered,
    prompts,
    skippedPrompts: [],
    resources: dropRepeated(resources, report),
    resourceServers: [],
    toolsets: [],
    shownToolsets: undefined,
    skipped: [],
    problems: [],
    servers: new ServerStates(),
    instructions: server.instructions,
    registry: server.registry,
    packs,
    explainPackage: () => undefined,
    startOthers: undefined,
  });
  const held = new SessionResources();
  const runners = new MemberRunners(config, findInitializers(server, tools));
  held.add(() => runners.close());
  const memory = new SessionMemory([], config.sensitiveMemory);
  const id = randomUUID();
  const reportProblem = ({ code, message }: Problem) => report(`${code}: ${message}`);
  let validator: Promise<SchemaValidator> | undefined;
  const open = new OpenCalls(runners, held.closing);
  const calls = new ToolCalls({
    open,
    own: { sessionId: id, memory, record: () => {}, log: () => {}, ask: undefined },
    isWithoutSession: true,
    runners,
    callback: () => undefined,
    report: reportProblem,
    validator: () => {
      validator ??= import("../json-schema/schema-validator.ts").then((module) =>
        module.createSchemaValidator(),
      );
      return validator;
    },
  });
  try {
    await abortable(signal, () => runners.begin(tools));
  } catch (error) {
    await held.close(error);
    throw error;
  }
  return new Session({
    id,
    logDir: "",
    state: () => state,
    reported: [],
    servedListeners: new Set(),
    report: reportProblem,
    memory,
    recording: new Recording(),
    resources: held,
    runners,
    calls,
    ask: undefined,
    requests: new Requests(calls, open, runners),
  });
}
