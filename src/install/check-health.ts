import { resolve } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { diffLock } from "../approval/approve.ts";
import { loadConfig } from "../config/read-config.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { lockModeOf, openLockGate } from "../lock/gate.ts";
import { listOf, type Problem, TrailblazeError } from "../problems/index.ts";
import { countOf } from "../problems/text.ts";
import { planRemoteServer } from "../runtime/server-launches.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";
import { expiryOf, readSignIn } from "../sign-in/stored.ts";

export interface HealthCheck {
  name: "node" | "project" | "config" | "packs" | "lock" | "servers" | "sign-in" | "session";
  ok: boolean;
  summary: string;
}

export interface Health {
  /** Absolute path of the project's folder; `null` if there is none. */
  project: string | null;
  checks: HealthCheck[];
  problems: Problem[];
}

const supportedNode = "^20.19.0 || >=22.12.0";

type Add = (name: HealthCheck["name"], ok: boolean, summary: string, problems?: readonly Problem[]) => void;

/** Adds what a check throws. */
const toError = (add: Add, name: HealthCheck["name"]) => (error: unknown) => {
  if (!(error instanceof TrailblazeError)) throw error;
  add(name, false, error.message, [error.problem]);
  return false;
};

/** Checks the packs of a project. `config`: `undefined` if it is invalid, and then the packs' own problems are reported, too. */
async function checkPacks(add: Add, cwd: string, config: SessionConfig | undefined): Promise<void> {
  const everything = { allow: undefined, deny: [], transitive: [] };
  const found = await findPacks(port, { cwd, policy: config?.packs ?? everything });
  const packs = found.packs.map(({ pack }) => pack);
  const broken = packs.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const enabled = packs.filter((pack) => pack.enabled && !pack.shadowed);
  const names = broken.map(({ name }) => name).join(", ");
  const summary = `${countOf(packs.length, "pack")}, ${enabled.length} enabled`;
  const problems = config ? [] : [...found.problems, ...packs.flatMap((pack) => pack.problems)];
  add("packs", broken.length === 0, names === "" ? summary : `${summary}; broken: ${names}`, problems);
}

/** Checks trailblaze.lock without starting anything. With a problem, for which it rejects, no session opens. */
async function checkLock(add: Add, config: SessionConfig, options: SessionOptions): Promise<boolean> {
  const mode = lockModeOf(config, options.lock);
  if ((await openLockGate(config, mode)) === undefined)
    add("lock", true, mode === "off" ? "not used" : "none, so everything that is installed is used");
  else {
    const { inSync, entries } = await diffLock({ cwd: options.cwd, config: options.config, static: true });
    const names = [...new Set(entries.map(({ pack, server }) => pack ?? server))].join(", ");
    const difference = `differs from what is installed: ${names}; run \`trailblaze diff\``;
    add("lock", inSync || mode !== "frozen", inSync ? "approves what is installed" : difference);
  }
  return true;
}

/** Says of remote servers whether they are signed in to. `refused`: the labels of those that require authorization. */
function checkSignIns(add: Add, config: SessionConfig, refused: readonly string[]): void {
  const states = config.subprocessServers.flatMap((server) => {
    const plan = server.url === undefined ? undefined : planRemoteServer(server, config);
    if (plan?.oauth === undefined || plan.fault !== undefined) return [];
    const { tokens } = readSignIn({ url: plan.url, oauth: plan.oauth }) ?? {};
    const isRefused = refused.includes(server.name);
    if (tokens === undefined && server.oauth === undefined && !isRefused) return [];
    const expiry = tokens && expiryOf(tokens);
    const isOver = expiry && Date.parse(expiry) <= Date.now() && tokens.refresh_token === undefined;
    const signedIn = `signed in${expiry ? ` until ${expiry}` : ""}`;
    const state = tokens === undefined ? "never" : isOver || isRefused ? "expired" : signedIn;
    return [{ ok: state === signedIn, text: `${server.name}: ${state}` }];
  });
  const ok = states.every((state) => state.ok);
  if (states.length > 0) add("sign-in", ok, states.map(({ text }) => text).join("; "));
}

async function checkSession(add: Add, config: SessionConfig, options: SessionOptions): Promise<void> {
  const session = await openSessionByRules(options, { mode: "check" });
  try {
    const running = session.servers.filter(({ state }) => state === "running").length;
    const lost = session.servers.filter(({ state }) => state === "failed");
    const labelsOf = (servers: typeof lost) => servers.map(({ label }) => label);
    const unauthorized = lost.filter(({ reason }) => reason === "AuthorizationRequired");
    const total = running + lost.length;
    const started = total === 0 ? "none to start" : `${running} of ${total} started`;
    const failures = lost.length === 0 ? "" : `; failed: ${labelsOf(lost).join(", ")}`;
    add("servers", lost.length === 0, `${started}${failures}`);
    checkSignIns(add, config, labelsOf(unauthorized));
    // `openSession` would reject. Here, these are excluded so that the others are checked, too.
    const needed = lost.filter((one) => one.source.type === "config" && !unauthorized.includes(one));
    const summary =
      needed.length === 0
        ? `${countOf(session.tools.length, "tool")}, ${session.skipped.length} excluded`
        : `cannot open without ${listOf(labelsOf(needed), "and")}`;
    add("session", needed.length === 0, summary, session.problems);
  } finally {
    await session.close();
  }
}

/**
 * Checks everything that a session needs, and continues after errors. Trust level: execution, because it starts the
 * servers. It stops all of them.
 */
export async function checkHealth(options: SessionOptions): Promise<Health> {
  const cwd = resolve(options.cwd ?? process.cwd());
  const health: Health = { project: null, checks: [], problems: [] };
  const add: Add = (name, ok, summary, problems = []) => {
    health.checks.push({ name, ok, summary });
    health.problems.push(...problems);
  };
  const isNew = satisfies(process.versions.node, supportedNode, { includePrerelease: true });
  add("node", isNew, `Node ${process.versions.node}${isNew ? "" : `, but ${supportedNode} is required`}`);
  try {
    health.project = findProject(port, cwd).directory;
  } catch (error) {
    toError(add, "project")(error);
    return health;
  }
  add("project", true, health.project);
  const source = { directory: health.project, config: options.config, cwd };
  const { config, errors } = await loadConfig(port, source);
  add("config", config !== undefined, config ? "valid" : countOf(errors.length, "error"), errors);
  await checkPacks(add, cwd, config);
  if (config === undefined) add("session", false, "not checked, because the config is invalid");
  else if (await checkLock(add, config, options).catch(toError(add, "lock")))
    await checkSession(add, config, options).catch(toError(add, "session"));
  else add("session", false, "not checked, because trailblaze.lock cannot be used");
  return health;
}
