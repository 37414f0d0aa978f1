import { resolve } from "node:path";
import { readConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { findProject } from "../discovery/project.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { LockGate } from "../lock/lock-gate.ts";
import { createProblem } from "../problems/index.ts";
import { abortable } from "../runtime/abort-listeners.ts";
import { watchProject } from "./follow-project.ts";
import type { Selection } from "./read-project.ts";
import { Session } from "./session.ts";
import { SessionFrame } from "./session-frame.ts";
import { applyOptions, type CommandSessionOptions } from "./session-options.ts";

/** How a session opens and runs; for hosts, `openSession` decides. */
export interface OpeningRules {
  /**
   * Whether a failing server of the config rejects the start (`host`), or is reported (`check`, for `doctor`, which shows all
   * problems). `served`: what is broken is reported and left out, servers that take long join later, and what exits is restarted up
   * to 3 times a minute; no exit ends the session.
   */
  mode: "host" | "check" | "served";
  /** What the session has instead of its project's; its failure rejects the start. Code of members learns nothing of the session. */
  selection?: Selection | undefined;
  /** Called with what packs' code prints in child processes. */
  onOutput?: ((text: string) => void) | undefined;
  /** Decides what is approved instead of the lock: to show what differs from it, or as a served target was found. */
  openGate?(config: SessionConfig): Promise<LockGate | undefined>;
  /** Whether packs that the session would miss are installed, as far as the config or the options allow it. */
  installs?: boolean;
}

export type Opening = Pick<SessionFrame, "cwd" | "options" | "rules">;

/** Ends all that it has started if the session cannot open. */
async function open(config: SessionConfig, how: Opening): Promise<Session> {
  const { options, rules } = how;
  const problems = [...config.problems];
  if (rules.installs && (options.install || config.packs.autoInstall.length > 0)) {
    const { installReferredPacks } = await import("./install-missing.ts");
    problems.push(...(await installReferredPacks(config, options)));
  }
  // A session that follows its project runs no packs' code in this process.
  if (options.watch && config.isolation === "in-process")
    problems.push(createProblem("IsolationOverridden", {}));
  const frame = new SessionFrame({ ...config, problems }, how);
  const { resources, states, memory, processes } = frame;
  const applyChange = async (stop: AbortSignal) => {
    const now = await readSessionConfig(how);
    memory.addSensitive(now.sensitiveMemory);
    await states.take(now, stop);
  };
  const begin = async () => {
    // Code of packs is loaded as soon as it is read: its files may be replaced.
    if (options.watch) await processes.prepare();
    // Before the project is read, so that no change is missed.
    const follow = options.watch ? await watchProject(frame, applyChange) : undefined;
    await states.take(frame.config(), resources.closing);
    for (const { owner } of processes.initializers) await resources.step(processes.runnerOf(owner));
    await follow?.();
  };
  try {
    if (options.signal !== undefined) resources.follow(options.signal);
    // After an abort, `begin` stops at its next step, because the session is closed.
    await abortable(resources.closing, begin);
    return new Session(frame);
  } catch (error) {
    await resources.close(error);
    throw error;
  }
}

/** Reads the config of a session, overridden by the options. Throws `TrailblazeError` `ProjectNotFound` or `InvalidConfig`. */
export async function prepareSession(options: CommandSessionOptions, rules: OpeningRules) {
  const how = { cwd: resolve(options.cwd ?? process.cwd()), options, rules };
  options.signal?.throwIfAborted();
  const config = await readSessionConfig(how);
  return { config, open: () => open(config, how) };
}

export const openSessionByRules = async (...how: Parameters<typeof prepareSession>): Promise<Session> =>
  (await prepareSession(...how)).open();

async function readSessionConfig({ cwd, options, rules }: Opening): Promise<SessionConfig> {
  const { selection } = rules;
  const { directory } = findProject(port, cwd);
  const config = applyOptions(await readConfig(port, { directory, config: options.config, cwd }), options);
  if (selection === undefined) return config;
  const isComposed = selection.composed !== undefined;
  const isSelected = (label: string) => !isComposed && label === selection.label;
  return {
    ...config,
    // Code that learns nothing of a session calls nothing of it.
    callback: { ...config.callback, enabled: !isComposed && config.callback.enabled },
    device: undefined,
    memory: new Map(),
    builtIns: [],
    toolsets: new Map(),
    servers: [],
    subprocessServers: config.subprocessServers.filter(({ name }) => isSelected(name)),
    labels: config.labels.filter(isSelected),
  };
}
