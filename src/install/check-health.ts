import { resolve } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { diffLock } from "../approval/diff-lock.ts";
import { findConfigProblems, readConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { lockModeOf } from "../lock/gate.ts";
import { findLock, lockFileOf } from "../lock/lock-file.ts";
import { createProblem, listOf, type Problem, TrailblazeError } from "../problems/index.ts";
import { countOf } from "../problems/text.ts";
import { planRemoteServer } from "../runtime/server-launches.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { expiryOf, readSignIn } from "../sign-in/stored.ts";

/** One check and its result. */
export interface HealthCheck {
  name: "node" | "project" | "config" | "packs" | "lock" | "servers" | "sign-in" | "session";
  ok: boolean;
  /** One line for users. */
  summary: string;
}

interface Check extends HealthCheck {
  problems?: readonly Problem[];
}

export interface Health {
  /** Absolute path of the project's folder; `null` if there is none. */
  project: string | null;
  checks: HealthCheck[];
  problems: Problem[];
}

const supportedNode = "^20.19.0 || >=22.12.0";

/** A check that fails with an error that has a problem. */
function failed(name: HealthCheck["name"], error: unknown): Check {
  if (!(error instanceof TrailblazeError)) throw error;
  return { name, ok: false, summary: error.message, problems: [error.problem] };
}

function checkNode(): Check {
  const ok = satisfies(process.versions.node, supportedNode, { includePrerelease: true });
  const summary = `Node ${process.versions.node}${ok ? "" : `, but ${supportedNode} is required`}`;
  return { name: "node", ok, summary };
}

/** Checks the packs of a project. `config`: `undefined` if it is invalid, and then the packs' own problems are reported, too. */
async function checkPacks(cwd: string, config: SessionConfig | undefined): Promise<Check> {
  const everything = { allow: undefined, deny: [], transitive: [] };
  const found = await findPacks(createNodeInspectionPort(), { cwd, policy: config?.packs ?? everything });
  const packs = found.packs.map(({ pack }) => pack);
  const broken = packs.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const enabled = packs.filter((pack) => pack.enabled && !pack.shadowed);
  const names = broken.map(({ name }) => name).join(", ");
  const summary = `${countOf(packs.length, "pack")}, ${enabled.length} enabled`;
  return {
    name: "packs",
    ok: broken.length === 0,
    summary: names === "" ? summary : `${summary}; broken: ${names}`,
    problems: config ? [] : [...found.problems, ...packs.flatMap(({ problems }) => problems)],
  };
}

/** Checks trailblaze.lock without starting anything. If it has a problem, no session opens. */
async function checkLock(
  config: SessionConfig,
  { cwd, config: given, lock }: SessionOptions,
): Promise<Check> {
  const mode = lockModeOf(config, lock);
  const describe = (ok: boolean, summary: string): Check => ({ name: "lock", ok, summary });
  if (mode === "off") return describe(true, "not used");
  const file = lockFileOf(config.project);
  try {
    if ((await findLock(config.project)) === undefined) {
      if (mode !== "frozen") return describe(true, "none, so everything that is installed is used");
      const problem = createProblem("LockMissing", { file }, { file });
      return { ...describe(false, problem.message), problems: [problem] };
    }
    const { inSync, entries } = await diffLock({ cwd, config: given, static: true });
    if (inSync) return describe(true, "approves what is installed");
    const names = [...new Set(entries.map(({ pack, server }) => pack ?? server))].join(", ");
    const summary = `differs from what is installed: ${names}; run \`trailblaze diff\``;
    return describe(mode !== "frozen", summary);
  } catch (error) {
    return failed("lock", error);
  }
}

/** Says of remote servers whether they are signed in to. `refused`: the labels of those that require authorization. */
function* checkSignIns(config: SessionConfig, refused: readonly string[]): Generator<Check> {
  const states = config.subprocessServers.flatMap((server) => {
    const plan = server.url === undefined ? undefined : planRemoteServer(server, config);
    if (plan?.oauth === undefined || plan.fault !== undefined) return [];
    const { tokens } = readSignIn({ url: plan.url, oauth: plan.oauth }) ?? {};
    const isRefused = refused.includes(server.name);
    if (tokens === undefined)
      return server.oauth === undefined && !isRefused ? [] : [{ ok: false, text: `${server.name}: never` }];
    const expiry = expiryOf(tokens);
    const isOver = expiry !== null && Date.parse(expiry) <= Date.now() && tokens.refresh_token === undefined;
    const state = isOver || isRefused ? "expired" : `signed in${expiry === null ? "" : ` until ${expiry}`}`;
    return [{ ok: !isOver && !isRefused, text: `${server.name}: ${state}` }];
  });
  const summary = states.map(({ text }) => text).join("; ");
  if (states.length > 0) yield { name: "sign-in", ok: states.every(({ ok }) => ok), summary };
}

/** Opens a session, which starts its servers, and closes it. */
async function* checkSession(config: SessionConfig, options: SessionOptions): AsyncGenerator<Check> {
  try {
    const session = await openSessionByRules(options, { userServers: "reported" });
    try {
      const running = session.servers.filter(({ state }) => state === "running").length;
      const lost = session.servers.filter(({ state }) => state === "failed");
      const unauthorized = lost.filter(({ reason }) => reason === "AuthorizationRequired");
      const total = running + lost.length;
      const started = total === 0 ? "none to start" : `${running} of ${total} started`;
      const failures = lost.length === 0 ? "" : `; failed: ${lost.map(({ label }) => label).join(", ")}`;
      yield { name: "servers", ok: lost.length === 0, summary: `${started}${failures}` };
      yield* checkSignIns(
        config,
        unauthorized.map(({ label }) => label),
      );
      // `openSession` would reject. Here, these are excluded so that the others are checked, too.
      const needed = lost
        .filter((one) => one.source.type === "config" && !unauthorized.includes(one))
        .map(({ label }) => label);
      const summary =
        needed.length === 0
          ? `${countOf(session.tools.length, "tool")}, ${session.skipped.length} excluded`
          : `cannot open without ${listOf(needed, "and")}`;
      yield { name: "session", ok: needed.length === 0, summary, problems: session.problems };
    } finally {
      await session.close();
    }
  } catch (error) {
    yield failed("session", error);
  }
}

async function* checkAll(directory: string, cwd: string, options: SessionOptions): AsyncGenerator<Check> {
  const port = createNodeInspectionPort();
  const source = { directory, config: options.config, cwd };
  const problems = await findConfigProblems(port, source);
  const isValid = problems.length === 0;
  yield {
    name: "config",
    ok: isValid,
    summary: isValid ? "valid" : countOf(problems.length, "error"),
    problems,
  };
  const config = isValid ? await readConfig(port, source) : undefined;
  const unchecked = (why: string): Check => {
    return { name: "session", ok: false, summary: `not checked, because ${why}` };
  };
  yield await checkPacks(cwd, config);
  if (config === undefined) return yield unchecked("the config is invalid");
  const lock = await checkLock(config, options);
  yield lock;
  if (lock.problems !== undefined) return yield unchecked("trailblaze.lock cannot be used");
  yield* checkSession(config, options);
}

/**
 * Checks everything that a session needs, and continues after errors. Trust level: execution, because it starts the
 * servers. It stops all of them.
 */
export async function checkHealth(options: SessionOptions = {}): Promise<Health> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const health: Health = { project: null, checks: [], problems: [] };
  const add = ({ problems = [], ...check }: Check) => {
    health.checks.push(check);
    health.problems.push(...problems);
  };
  add(checkNode());
  try {
    health.project = findProject(createNodeInspectionPort(), cwd).directory;
  } catch (error) {
    add(failed("project", error));
    return health;
  }
  add({ name: "project", ok: true, summary: health.project });
  for await (const check of checkAll(health.project, cwd, options)) add(check);
  return health;
}
