import { locateInConfig } from "../config/config-file.ts";
import type { ServerStart, SessionConfig, UserServer } from "../config/session-config.ts";
import { isToolAllowed } from "../config/tool-policy.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import type { Gate, IsDenied } from "../lock/gate.ts";
import { TrailblazeError } from "../problems/index.ts";
import {
  planPackServer,
  planRemoteServer,
  planUserServer,
  type ServerPlan,
} from "../runtime/server-launches.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeOwnServer, describeUnusable } from "./excluded.ts";
import type { UsedPackage } from "./missing-packages.ts";
import { hashPackProgram, hashUserProgram } from "./program-content.ts";
import { describeServers } from "./select-packs.ts";
import { ServerApproval } from "./server-approval.ts";
import type { SessionFrame, SessionProcesses } from "./session-processes.ts";
import type { PlannedServer } from "./session-servers.ts";
import { type Contribution, collectServer, contribute, explainDenied } from "./tool-candidates.ts";

/** What a state needs from its session. */
export interface StateContext {
  frame: SessionFrame;
  config: SessionConfig;
  processes: SessionProcesses;
  /** The sources of the state before; an installation in progress must not replace them. */
  before: { used: readonly UsedPackage[]; installed: readonly CheckedPack[] } | undefined;
  /** Creates what decides which items are approved; `undefined` if everything is. */
  openGate(): Promise<Gate | undefined>;
}

/** The servers of one reading of the project. */
export class StateServers {
  readonly #context: StateContext;
  readonly #port: InspectionPort;
  readonly #releases: (() => void)[] = [];
  /** Decides which servers and tools are approved. */
  gate: Gate | undefined;
  /** What is left out before it starts: servers of the config. */
  readonly refused = contribute();

  constructor(context: StateContext, port: InspectionPort) {
    this.#context = context;
    this.#port = port;
  }

  /** Whether installed code may change while the session is open. */
  get #follows(): boolean {
    return this.#context.frame.options.watch === true;
  }

  /** Whether what fails is an error of the start; `asked`: what the session wants. */
  needs(asked: boolean): boolean {
    const { before, frame } = this.#context;
    const { only, served = false } = frame.rules;
    return before === undefined && (only !== undefined || (!served && asked));
  }

  /** Whether a broken item of a pack is one. */
  get needsPacks(): boolean {
    return this.needs(this.#context.config.packs.onError === "fail");
  }

  /** Ends the servers that no other reading holds. */
  release(): void {
    for (const release of this.#releases.splice(0)) release();
  }

  /** Takes a server into the state. It starts now, or when it is needed. */
  async #add(
    plan: ServerPlan,
    content: string | undefined,
    preferred: { start?: ServerStart | undefined; idleMs?: number | undefined },
    isAllowed: (tool: string) => boolean = () => true,
  ): Promise<PlannedServer> {
    const { processes, config, frame } = this.#context;
    const { gate } = this;
    const startsAll = frame.rules.userServers === "reported" && frame.rules.served !== true;
    const approved = gate?.findApproved(plan);
    const mayBeLazy = !startsAll && (preferred.start ?? config.serversStart) === "lazy";
    const isLazy = mayBeLazy && approved !== undefined;
    const server = processes.getServer(content === undefined ? plan : { ...plan, content }, config, {
      isLazy,
      idleMs: preferred.idleMs ?? config.serversIdleMs,
    });
    this.#releases.push(server.hold());
    const added: PlannedServer = { plan, server, isAllowed };
    if (gate === undefined) return added;
    const isDenied: IsDenied = (name, list) => explainDenied(added, list, name) !== undefined;
    return { ...added, approval: new ServerApproval(gate, added, { approved, isLazy }, isDenied) };
  }

  async startOwn(isWanted: (server: UserServer) => boolean): Promise<PlannedServer[]> {
    const { config } = this.#context;
    const follows = this.#follows;
    const port = this.#port;
    const wanted = config.subprocessServers.filter((server) => isWanted(server) && this.#mayStart(server));
    const plans = await Promise.all(
      wanted.map(async (server) => {
        if (server.url !== undefined)
          return { server, plan: planRemoteServer(server, config), content: undefined };
        const plan = await planUserServer(port, server, config);
        return { server, plan, content: follows ? hashUserProgram(port, server, config, plan) : undefined };
      }),
    );
    return Promise.all(plans.map(({ server, plan, content }) => this.#add(plan, content, server)));
  }

  /** Checks a server of the config before its start. */
  #mayStart(server: UserServer): boolean {
    const { refusal, problems = [] } = this.gate?.checkServer(server) ?? {};
    this.refused.problems.push(...problems);
    if (refusal === undefined) return true;
    const source = describeOwnServer(this.#context.config, server.name);
    const skipped = describeUnusable(server.name, source, refusal);
    this.refused.skipped.push(skipped);
    return false;
  }

  async startPack({ inspected, unusable }: CheckedPack): Promise<PlannedServer[]> {
    const port = this.#port;
    const describe = describeServers(inspected);
    const { config } = this.#context;
    const follows = this.#follows;
    const added = inspected.items
      .filter((item) => item.shape === "subprocessServer" && !unusable.has(item))
      .map((item) => {
        const plan = planPackServer(port, inspected, item);
        const content = follows ? hashPackProgram(port, inspected, plan) : undefined;
        const { start, idleMs } = item.definition ?? {};
        const preferred = { start: start as ServerStart | undefined, idleMs: idleMs as number | undefined };
        const described = describe(item.declaration.name);
        return this.#add(plan, content, preferred, (tool) => isToolAllowed(config.packs, described, tool));
      });
    return Promise.all(added);
  }

  /**
   * Resolves when the server has started or failed, or rejects if it fails and the session needs it. The failure of a server
   * that the config defines has its place.
   */
  async whenStarted({ server, plan, approval }: PlannedServer): Promise<void> {
    const { config, frame } = this.#context;
    const isNeeded =
      plan.pack === undefined ? this.needs(frame.rules.userServers === "needed") : this.needsPacks;
    if (approval?.isLazy) return;
    try {
      await server.ready;
    } catch (error) {
      if (!isNeeded) return;
      if (!(error instanceof TrailblazeError) || plan.configPath === undefined) throw error;
      const path = error.problem.path ?? plan.configPath;
      const [problem] = await locateInConfig([{ ...error.problem, path }], config.text);
      throw new TrailblazeError(problem ?? error.problem);
    }
  }

  /** What models should know of a server, as far as the lock approves it. */
  instructionsOf({ server, approval }: PlannedServer): string | undefined {
    return approval === undefined ? server.instructions : approval.offer?.verdict.instructions;
  }

  /** What a server offers. One that says something else to models than is approved is ended, and offers nothing. */
  collect(one: PlannedServer): Contribution {
    const { server, plan, approval } = one;
    const refusal = approval?.offer?.verdict.refusal;
    if (refusal === undefined) return collectServer(one);
    void server.close();
    if (this.#context.frame.rules.only !== undefined) throw new TrailblazeError(refusal);
    const skipped = describeUnusable(plan.source.item ?? plan.label, plan.source, refusal);
    return contribute({ skipped: [skipped], problems: [refusal] });
  }
}
