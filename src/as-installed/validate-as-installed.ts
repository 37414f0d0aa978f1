import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../config/read-config.ts";
import type { EvaluatedFile } from "../confinement/evaluate.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findHandlers, parseHandler } from "../extension-schema/references.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { placeInItems } from "../inspection/place-problems.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { findManagerProgram, runManager } from "../npm/managers/package-manager.ts";
import { createProblem, failure, type Problem, type ProblemPlace, quote } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";

export interface AsInstalledOptions {
  /** Absolute paths of tarballs to install beside the pack, for packages that are not published yet. */
  tarballs: readonly string[];
  /** Install only what npm's cache has. */
  offline: boolean;
  /** Throw `ConfinementUnavailable` instead of importing modules without confinement. */
  requireConfinement: boolean;
  signal: AbortSignal;
  /** Called with each command before it runs. */
  onCommand(command: string): void;
  onWait?: SessionOptions["onWait"];
}

interface Finding {
  item: InspectedItem;
  problem: Problem;
}

const installMs = 600_000;
const moduleMs = 10_000;
/** The last words of npm. */
const shownCharacters = 2000;

const createFailure = (what: string, reason: string, place: ProblemPlace, hint?: string): Problem => {
  const args = { what, reason: reason.replace(/\.$/, ""), hint };
  return createProblem("FailsAsInstalled", args, place, "validation");
};

async function runNpm(what: string, cwd: string, args: readonly string[], options: AsInstalledOptions) {
  const program = findManagerProgram("npm");
  if (program === undefined) throw failure("InstallFailed", { what, reason: "there is no npm on the PATH" });
  options.onCommand(["npm", ...args].join(" "));
  const run = { cwd, args, timeoutMs: installMs, signal: options.signal };
  const { exitCode, reason, tail } = await runManager(program, run);
  if (exitCode === 0) return;
  const said = tail.trim().slice(-shownCharacters);
  const exit = `npm exited with code ${exitCode}${said === "" ? "" : `: ${said}`}`;
  throw failure("InstallFailed", { what, reason: reason ?? exit });
}

/** Packs the package in `location` and installs the tarball in `project`. */
async function install(
  location: string,
  { temporary, project }: { temporary: string; project: string },
  options: AsInstalledOptions,
): Promise<void> {
  const tarballs = join(temporary, "tarballs");
  for (const created of [tarballs, project]) mkdirSync(created);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true }));
  const flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-progress"];
  if (options.offline) flags.push("--offline");
  const args = ["pack", "--ignore-scripts", "--pack-destination", tarballs];
  await runNpm("pack the package", location, args, options);
  const files = [...readdirSync(tarballs).map((file) => join(tarballs, file)), ...options.tarballs];
  await runNpm("install the packed package", project, ["install", ...flags, ...files], options);
}

/**
 * A module whose default export has the types of the exports of another module, found as execution finds them: names that
 * Node does not detect in CommonJS are properties of its default export.
 */
const writeProbe = (href: string, names: readonly string[]): string => `
import * as all from ${JSON.stringify(href)};
const own = (object, key) => (Object(object) === object && Object.hasOwn(object, key) ? object[key] : undefined);
const main = own(all, "default");
const find = (name) => {
  if (name === "default") return own(main, "__esModule") === true ? own(main, "default") : main;
  return Object.hasOwn(all, name) ? all[name] : own(main, name);
};
export default ${JSON.stringify(names)}.map((name) => typeof find(name));
`;

/** Imports each module that a handler names, in a confined child of its own, and checks that it exports functions. */
async function* importModules(
  { items, pack: { location } }: InspectedPack,
  { signal, requireConfinement }: AsInstalledOptions,
): AsyncGenerator<Finding> {
  const limits = { wallMs: moduleMs, packMs: 2 * moduleMs };
  const { evaluateConfined } = await import("../confinement/evaluate.ts");
  const uses = items.flatMap((item) =>
    findHandlers(item).flatMap(({ handler, path }) => {
      const place = typeof handler === "string" ? parseHandler(handler) : { fault: "" };
      return "fault" in place ? [] : { ...place, item, place: { path }, handler: String(handler) };
    }),
  );
  const names = uses.map(({ exportName }) => exportName);
  const imported = new Map<string, EvaluatedFile>();
  for (const [index, { module, exportName, item, place, handler }] of uses.entries()) {
    const quoted = quote(module, 200);
    let result = imported.get(module);
    if (result === undefined) {
      // A confined child requires a default export that is data, which a handler's module does not have.
      const probe = join(location, `trailblaze-probe-${randomUUID()}.mjs`);
      writeFileSync(probe, writeProbe(pathToFileURL(join(location, module)).href, names));
      const request = { packageRoot: location, files: [probe] };
      const { results } = await evaluateConfined(request, { signal, requireConfinement, limits });
      rmSync(probe);
      signal.throwIfAborted();
      result = results.get(probe) ?? { reason: "it was not imported" };
      imported.set(module, result);
      if ("reason" in result)
        yield { item, problem: createFailure(`Module ${quoted} cannot be imported`, result.reason, place) };
    }
    if ("reason" in result || (Array.isArray(result.value) && result.value[index] === "function")) continue;
    const exported = exportName === "default" ? "default export" : `export ${quote(exportName)}`;
    const reason = `${quoted} has no ${exported} that is a function`;
    const hint = "Export a function with this name, or correct the handler.";
    const what = `Handler ${quote(handler, 200)} cannot be called`;
    yield { item, problem: createFailure(what, reason, place, hint) };
  }
}

/** Starts the subprocess servers in a session, which lists what they have. The config in `directory` has the timeouts. */
async function* startServers(
  { items, pack: { qualifiedName } }: InspectedPack,
  { project, directory }: { project: string; directory: string },
  { signal, onCommand, onWait }: AsInstalledOptions,
): AsyncGenerator<Finding> {
  const servers = items.filter(({ shape }) => shape === "subprocessServer");
  if (servers.length === 0) return;
  const { timeouts } = await readConfig(createNodeInspectionPort(), { directory });
  const packs = { allow: [qualifiedName] };
  const logDir = join(project, "logs");
  const config = { timeouts, packs, logDir, crash: "isolate", nameCollisions: "prefix" } as const;
  const announce = ({ command, args }: { command: string; args: readonly string[] }) =>
    onCommand([command, ...args].join(" "));
  const session = await openSessionByRules(
    { cwd: project, config, lock: "off", signal, onCommand: announce, onWait },
    { userServers: "reported" },
  );
  await session.close();
  for (const item of servers) {
    const problem = session.problems.find(
      (one) => one.kind === "server" && one.item === item.declaration.name && one.severity === "error",
    );
    if (problem === undefined) continue;
    const { message, hint } = problem;
    const path = [item.definition?.script === undefined ? "command" : "script"];
    const reason = hint === undefined ? message : `${message} ${hint}`;
    yield { item, problem: createFailure("The server cannot be started", reason, { path }) };
  }
}

/**
 * Packs the pack `name` in `location`, installs it into an empty temporary project without development dependencies and
 * scripts, and returns a `FailsAsInstalled` for each definition, module and server that does not work there. Trust level:
 * execution. Modules run confined, servers do not. Removes everything that it created. Throws `TrailblazeError`
 * `InstallFailed`, also if the signal aborts, `ConfinementUnavailable`, `InvalidConfig`.
 */
export async function validateAsInstalled(
  location: string,
  name: string,
  options: AsInstalledOptions,
): Promise<Problem[]> {
  const { signal, requireConfinement } = options;
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-installed-")));
  const project = join(temporary, "project");
  try {
    await install(location, { temporary, project }, options);
    const port = createNodeInspectionPort();
    const { packs } = await findPacks(port, { cwd: project });
    const found = packs.find(({ pack }) => pack.name === name);
    if (found === undefined) {
      const reason = "its `trailblaze` field is missing";
      return [createFailure("The installed package is not a pack", reason, { pack: name })];
    }
    const inspected = await loadDefinitions(port, found, { signal, requireConfinement });
    signal.throwIfAborted();
    const findings: Finding[] = [];
    for await (const finding of importModules(inspected, options)) findings.push(finding);
    const folders = { project, directory: location };
    for await (const finding of startServers(inspected, folders, options)) findings.push(finding);
    const broken = inspected.problems
      .filter(({ severity }) => severity === "error")
      .map(({ message, code: _, severity: _s, hint: _h, args: _a, ...place }) =>
        createFailure("The installed pack has an error", message, place),
      );
    const problems = [...broken, ...(await placeInItems(inspected, findings))];
    return problems.map((problem) => ({ ...problem, pack: name }));
  } catch (error) {
    const [what, reason] = ["validate the pack as installed", "it was interrupted"];
    throw signal.aborted ? failure("InstallFailed", { what, reason }) : error;
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}
