import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../config/read-config.ts";
import { evaluateConfined } from "../confinement/evaluate.ts";
import { locateProblems } from "../data/source-text.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findHandlers, parseHandler } from "../extension-schema/references.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import { findPackBySubject } from "../inspection/inspect.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { type InspectedPack, placeInItem } from "../inspection/types.ts";
import { findManagerProgram, runManager } from "../npm/managers/package-manager.ts";
import { createProblem, failure, type Problem, type ProblemPlace, quote } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";
import type { SessionOptions } from "../session/session-options.ts";

export interface AsInstalledOptions extends Pick<SessionOptions, "onInstall" | "onCommand" | "onWait"> {
  /** Absolute paths of tarballs to install beside the pack, for packages that are not published yet. */
  tarballs: readonly string[];
  offline: boolean;
  /** Throw `ConfinementUnavailable` instead of importing modules without confinement. */
  requireConfinement: boolean;
  signal: AbortSignal;
}

const installMs = 600_000;
const moduleMs = 10_000;
/** Of the end of what npm says. */
const shownCharacters = 2000;

const createFailure = (what: string, reason: string, place: ProblemPlace, hint?: string): Problem =>
  createProblem("FailsAsInstalled", { what, reason: reason.replace(/\.$/, ""), hint }, place);

async function runNpm(what: string, cwd: string, args: readonly string[], options: AsInstalledOptions) {
  const program = findManagerProgram("npm");
  if (program === undefined) throw failure("InstallFailed", { what, reason: "there is no npm on the PATH" });
  options.onInstall?.(["npm", ...args].join(" "));
  const run = { cwd, args, timeoutMs: installMs, signal: options.signal };
  const { exitCode, reason, tail } = await runManager(program, run);
  if (exitCode === 0) return;
  const exit = `npm exited with code ${exitCode}: ${tail.trim().slice(-shownCharacters)}`;
  throw failure("InstallFailed", { what, reason: reason ?? exit });
}

async function install(location: string, project: string, options: AsInstalledOptions): Promise<void> {
  const args = ["pack", "--ignore-scripts", "--pack-destination", project];
  await runNpm("pack the package", location, args, options);
  const files = [...readdirSync(project).map((file) => join(project, file)), ...options.tarballs];
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true }));
  const flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-progress"];
  if (options.offline) flags.push("--offline");
  await runNpm("install the packed package", project, ["install", ...flags, ...files], options);
}

/**
 * A module whose default export has those of some names by which another module exports functions, as execution finds them:
 * names that Node does not detect in CommonJS are properties of its default export. Other exports may be getters that throw.
 */
const writeProbe = (href: string, names: readonly string[]): string => `
import * as all from ${JSON.stringify(href)};
const main = Object(all.default);
const find = (name) => {
  const places = name === "default" && main.__esModule === true ? [main] : [all, main];
  return places.find((place) => Object.hasOwn(place, name))?.[name];
};
export default ${JSON.stringify(names)}.filter((name) => typeof find(name) === "function");
`;

/** Imports the modules that handlers name in a confined child, and checks that they export functions. */
async function importModules(
  { items, pack: { location } }: InspectedPack,
  { signal, requireConfinement }: AsInstalledOptions,
) {
  const uses = items.flatMap((item) =>
    findHandlers(item).flatMap(({ handler, path }) => {
      const place = typeof handler === "string" ? parseHandler(handler) : { fault: "" };
      return "fault" in place ? [] : { ...place, item, path };
    }),
  );
  // A confined child requires a default export that is data, which a handler's module does not have.
  const modules = [...new Set(uses.map(({ module }) => module))];
  const probeOf = (module: string) => join(location, `trailblaze-probe-${modules.indexOf(module)}.mjs`);
  for (const module of modules) {
    const names = uses.filter((use) => use.module === module).map(({ exportName }) => exportName);
    writeFileSync(probeOf(module), writeProbe(pathToFileURL(join(location, module)).href, names));
  }
  const request = { packageRoot: location, files: modules.map(probeOf) };
  const limits = { wallMs: moduleMs, packMs: 2 * moduleMs * modules.length };
  const { results } = await evaluateConfined(request, { signal, requireConfinement, limits });
  return uses.flatMap(({ module, exportName, item, path }) => {
    const result = results.get(probeOf(module)) ?? { reason: "it was not imported" };
    const quoted = quote(module, 200);
    if ("reason" in result)
      return placeInItem(item, createFailure(`Module ${quoted} cannot be imported`, result.reason, { path }));
    if (Array.isArray(result.value) && result.value.includes(exportName)) return [];
    const exported = exportName === "default" ? "default export" : `export ${quote(exportName)}`;
    const reason = `${quoted} has no ${exported} that is a function`;
    const hint = "Export a function with this name, or correct the handler.";
    return placeInItem(item, createFailure("The handler cannot be called", reason, { path }, hint));
  });
}

/** Starts the subprocess servers in a session, which lists what they have. The config in `directory` has the timeouts. */
async function startServers(
  { items, pack }: InspectedPack,
  cwd: string,
  directory: string,
  { signal, onCommand, onWait }: AsInstalledOptions,
) {
  if (!items.some(({ shape }) => shape === "subprocessServer")) return [];
  const { timeouts } = await readConfig(port, { directory });
  const packs = { allow: [pack.qualifiedName] };
  const config = { timeouts, packs, logDir: cwd, crash: "isolate", nameCollisions: "prefix" } as const;
  const options = { cwd, config, lock: "off", signal, onCommand, onWait } as const;
  const session = await openSessionByRules(options, { mode: "check" });
  await session.close();
  const errors = session.problems.filter(({ kind, severity }) => kind === "server" && severity === "error");
  return items.flatMap((item) => {
    const problem = errors.find((error) => error.item === item.declaration.name);
    if (problem === undefined || item.shape !== "subprocessServer") return [];
    const path = [item.definition?.script === undefined ? "command" : "script"];
    const reason = `${problem.message} ${problem.hint ?? ""}`.trim();
    return placeInItem(item, createFailure("The server cannot be started", reason, { path }));
  });
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
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-installed-")));
  try {
    await install(location, cwd, options);
    const pack = findPackBySubject(await findPacks(port, { cwd }), name);
    if (pack === undefined) {
      const reason = "it has neither a `trailblaze` field nor skills";
      return [createFailure("The installed package is not a pack", reason, { pack: name })];
    }
    const inspected = await loadDefinitions(port, pack, { signal, requireConfinement });
    const failures = [
      ...(await importModules(inspected, options)),
      ...(await startServers(inspected, cwd, location, options)),
    ];
    signal.throwIfAborted();
    const broken = inspected.problems
      .filter(({ severity }) => severity === "error")
      .map(({ message, code: _, severity: _s, hint: _h, args: _a, ...place }) =>
        createFailure("The installed pack has an error", message, place),
      );
    return [...broken, ...(await locateProblems(failures))];
  } catch (error) {
    const what = "validate the pack as installed";
    throw signal.aborted ? failure("InstallFailed", { what, reason: "it was interrupted" }) : error;
  } finally {
    rmSync(cwd, { recursive: true, force: true, maxRetries: 3 });
  }
}
