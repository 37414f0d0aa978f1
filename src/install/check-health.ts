import { resolve } from "node:path";
import { findConfigFaults } from "../config/read-config.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { createProblem, listOf, type Problem, TrailblazeError } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";

/** What was looked at, and how it is. */
export interface HealthCheck {
  name: "node" | "project" | "command" | "config" | "clients" | "packs" | "servers" | "session";
  ok: boolean;
  /** One line for people. */
  summary: string;
}

export interface Health {
  /** Absolute path of the project's folder; `null` where there is none. */
  project: string | null;
  checks: HealthCheck[];
  problems: Problem[];
}

const supportedNode = "^20.19.0 || >=22.12.0";

async function checkNode(): Promise<{ check: HealthCheck; problems: Problem[] }> {
  const { default: satisfies } = await import("semver/functions/satisfies.js");
  const ok = satisfies(process.versions.node, supportedNode, { includePrerelease: true });
  const summary = `Node ${process.versions.node}${ok ? "" : `, which is not in ${supportedNode}`}`;
  const args = { version: process.versions.node, range: supportedNode };
  return {
    check: { name: "node", ok, summary },
    problems: ok ? [] : [createProblem("NodeUnsupported", args)],
  };
}

const count = (number: number, noun: string, nouns = `${noun}s`) =>
  `${number} ${number === 1 ? noun : nouns}`;

function checkPacks(packs: readonly DiscoveredPack[]): HealthCheck {
  const broken = packs.filter(({ problems }) => problems.some(({ severity }) => severity === "error"));
  const enabled = packs.filter(({ enabled: isEnabled, shadowed }) => isEnabled && !shadowed);
  const names = broken.map(({ name }) => name).join(", ");
  const summary = `${count(packs.length, "pack")}, ${enabled.length} of them for sessions`;
  return {
    name: "packs",
    ok: broken.length === 0,
    summary: names === "" ? summary : `${summary}; broken: ${names}`,
  };
}

/** Whether what was installed into clients' configs still leads somewhere. */
async function checkInstalls(): Promise<{ check: HealthCheck; problems: Problem[] }> {
  const [{ listInstalls }, { resolveServer }] = await Promise.all([
    import("./list-installs.ts"),
    import("./resolve-server.ts"),
  ]);
  const installs = await listInstalls();
  const problems: Problem[] = [];
  for (const { server, file, project } of installs) {
    // An entry that does not say where it starts a server is no longer ours, or cannot be read.
    if (project === null) continue;
    try {
      await resolveServer(server, { cwd: project });
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      // A warning: sessions here do not depend on it.
      problems.push({ ...error.problem, severity: "warning", file });
    }
  }
  const there = installs.filter(({ state }) => state !== "missing");
  const summary =
    there.length === 0
      ? "nothing installed into any"
      : `${count(there.length, "entry", "entries")}, ${problems.length} of servers that are gone`;
  return { check: { name: "clients", ok: problems.length === 0, summary }, problems };
}

/**
 * Looks at everything a session needs, and goes on after each fault. Trust level: execution, since whether servers
 * start is found out by starting them; all of them are ended again.
 */
export async function checkHealth(options: SessionOptions = {}): Promise<Health> {
  const port = createNodeInspectionPort();
  const cwd = resolve(options.cwd ?? process.cwd());
  const node = await checkNode();
  const health: Health = { project: null, checks: [node.check], problems: node.problems };
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

  const { checkCommand } = await import("./check-command.ts");
  const command = await checkCommand(port, directory);
  add(command.check, command.problems);

  const clients = await checkInstalls();
  const faults = await findConfigFaults(port, { directory, config: options.config, cwd });
  const described = faults.length === 0 ? "no faults" : count(faults.length, "fault");
  add({ name: "config", ok: faults.length === 0, summary: described }, faults);

  add(clients.check, clients.problems);

  const found = await findPacks(port, { cwd, policy: { allow: undefined, deny: [], transitive: [] } });
  const packs = found.packs.map(({ pack }) => pack);
  add(checkPacks(packs));
  if (faults.length > 0) {
    add({ name: "session", ok: false, summary: "not tried: the config cannot be used" }, [
      ...found.problems,
      ...packs.flatMap(({ problems }) => problems),
    ]);
    return health;
  }
  const started: string[] = [];
  try {
    const onCommand: SessionOptions["onCommand"] = (command) => {
      started.push(command.label);
      options.onCommand?.(command);
    };
    const session = await openSessionByRules({ ...options, onCommand }, { userServers: "reported" });
    try {
      const lost = session.skipped.filter(({ reason }) => reason === "ServerFailed");
      const failed = lost.map(({ name }) => name);
      const servers =
        started.length === 0
          ? "none to start"
          : `${started.length - failed.length} of ${started.length} started`;
      const rest = failed.length === 0 ? "" : `; failed: ${failed.join(", ")}`;
      add({ name: "servers", ok: failed.length === 0, summary: `${servers}${rest}` });
      // Any other session rejects for these: here they are left out, so that the others are checked as well.
      const needed = lost.filter(({ source }) => source.type === "config").map(({ name }) => name);
      const summary =
        needed.length === 0
          ? `${count(session.tools.length, "tool")}, ${session.skipped.length} left out`
          : `does not open without ${listOf(needed, "and")}`;
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
