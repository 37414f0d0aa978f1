import { resolve } from "node:path";
import { findConfigProblems, readConfig } from "../config/read-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { listOf, type Problem, TrailblazeError } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";

/** One check and its result. */
export interface HealthCheck {
  name: "node" | "project" | "config" | "clients" | "packs" | "lock" | "servers" | "session";
  ok: boolean;
  /** One line for users. */
  summary: string;
}

export interface Health {
  /** Absolute path of the project's folder; `null` if there is none. */
  project: string | null;
  checks: HealthCheck[];
  problems: Problem[];
}

const supportedNode = "^20.19.0 || >=22.12.0";

async function checkNode(): Promise<HealthCheck> {
  const { default: satisfies } = await import("semver/functions/satisfies.js");
  const ok = satisfies(process.versions.node, supportedNode, { includePrerelease: true });
  const summary = `Node ${process.versions.node}${ok ? "" : `, but ${supportedNode} is required`}`;
  return { name: "node", ok, summary };
}

const count = (number: number, noun: string, nouns = `${noun}s`) =>
  `${number} ${number === 1 ? noun : nouns}`;

function checkPacks(packs: readonly DiscoveredPack[]): HealthCheck {
  const broken = packs.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const enabled = packs.filter(({ enabled: isEnabled, shadowed }) => isEnabled && !shadowed);
  const names = broken.map(({ name }) => name).join(", ");
  const summary = `${count(packs.length, "pack")}, ${enabled.length} enabled`;
  return {
    name: "packs",
    ok: broken.length === 0,
    summary: names === "" ? summary : `${summary}; broken: ${names}`,
  };
}

/** Checks whether the servers of entries in clients' configs still exist. */
async function checkInstalls(directory: string): Promise<{ check: HealthCheck; problems: Problem[] }> {
  const [{ listInstalls }, { resolveServer }] = await Promise.all([
    import("./list-installs.ts"),
    import("./resolve-server.ts"),
  ]);
  const installs = await listInstalls(directory);
  const problems: Problem[] = [];
  for (const { server, file, project } of installs) {
    try {
      await resolveServer(server, { cwd: project });
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      // Only a warning, because sessions of this project do not need this server.
      problems.push({ ...error.problem, severity: "warning", file });
    }
  }
  const summary =
    installs.length === 0
      ? "no entries in client configs"
      : `${count(installs.length, "entry", "entries")} in client configs, ${problems.length} with a missing server`;
  return { check: { name: "clients", ok: problems.length === 0, summary }, problems };
}

/**
 * Checks everything that a session needs, and continues after errors. Trust level: execution, because it starts the
 * servers. It stops all of them.
 */
export async function checkHealth(options: SessionOptions = {}): Promise<Health> {
  const port = createNodeInspectionPort();
  const cwd = resolve(options.cwd ?? process.cwd());
  const health: Health = { project: null, checks: [await checkNode()], problems: [] };
  const add = (check: HealthCheck, problems: readonly Problem[] = []) => {
    health.checks.push(check);
    health.problems.push(...problems);
  };

  let directory: string;
  try {
    ({ directory } = findProject(port, cwd));
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    add({ name: "project", ok: false, summary: error.message }, [error.problem]);
    return health;
  }
  health.project = directory;
  add({ name: "project", ok: true, summary: directory });

  const clients = await checkInstalls(directory);
  const configProblems = await findConfigProblems(port, { directory, config: options.config, cwd });
  const described = configProblems.length === 0 ? "valid" : count(configProblems.length, "error");
  add({ name: "config", ok: configProblems.length === 0, summary: described }, configProblems);

  add(clients.check, clients.problems);

  const everything = { allow: undefined, deny: [], transitive: [] };
  const config =
    configProblems.length > 0
      ? undefined
      : await readConfig(port, { directory, config: options.config, cwd });
  const found = await findPacks(port, { cwd, policy: config?.packs ?? everything });
  const packs = found.packs.map(({ pack }) => pack);
  add(checkPacks(packs));
  if (config === undefined) {
    const summary = "not checked, because the config is invalid";
    add({ name: "session", ok: false, summary }, [
      ...found.problems,
      ...packs.flatMap(({ problems }) => problems),
    ]);
    return health;
  }
  const { checkLock } = await import("./check-lock.ts");
  const lock = await checkLock(config, options);
  add(lock.check, lock.problem === undefined ? [] : [lock.problem]);
  if (lock.problem !== undefined) {
    const summary = "not checked, because trailblaze.lock cannot be used";
    add({ name: "session", ok: false, summary });
    return health;
  }
  const started: string[] = [];
  try {
    const onCommand: SessionOptions["onCommand"] = (command) => {
      started.push(command.label);
      options.onCommand?.(command);
    };
    const onConnect: SessionOptions["onConnect"] = (server) => {
      started.push(server.label);
      options.onConnect?.(server);
    };
    const session = await openSessionByRules(
      { ...options, onCommand, onConnect },
      { userServers: "reported" },
    );
    try {
      const lost = session.skipped.filter(({ reason }) => reason === "ServerFailed");
      const failed = lost.map(({ name }) => name);
      // A server without a value for a variable fails before it has a command.
      const total = new Set([...started, ...failed]).size;
      const servers = total === 0 ? "none to start" : `${total - failed.length} of ${total} started`;
      const rest = failed.length === 0 ? "" : `; failed: ${failed.join(", ")}`;
      add({ name: "servers", ok: failed.length === 0, summary: `${servers}${rest}` });
      // `openSession` would reject. Here, these are excluded so that the others are checked, too.
      const needed = lost.filter(({ source }) => source.type === "config").map(({ name }) => name);
      const summary =
        needed.length === 0
          ? `${count(session.tools.length, "tool")}, ${session.skipped.length} excluded`
          : `cannot open without ${listOf(needed, "and")}`;
      add({ name: "session", ok: needed.length === 0, summary }, session.problems);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof TrailblazeError)) throw error;
    add({ name: "session", ok: false, summary: error.message }, [error.problem]);
  }
  return health;
}
