import { randomUUID } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { readConfig } from "../config/read-config.ts";
import { createConfinedEvaluator } from "../confinement/confined-evaluator.ts";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findHandlers, parseHandler } from "../extension-schema/handlers.ts";
import { createInspectionPorts } from "../inspection/inspection-ports.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { placeInItems } from "../inspection/place-problems.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { startServer } from "../mcp/client/start-server.ts";
import { findManagerProgram, runManager } from "../npm/managers/package-manager.ts";
import {
  createProblem,
  failure,
  type Path,
  type Problem,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { createProcessPort } from "../processes/server-process.ts";
import { planPackServer } from "../runtime/server-launches.ts";

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
}

const installMs = 600_000;
const moduleMs = 10_000;
/** The last words of a program. */
const shownCharacters = 2000;

const interrupted = (what: string) => failure("InstallFailed", { what, reason: "it was interrupted" });

async function runNpm(
  what: string,
  args: readonly string[],
  cwd: string,
  { signal, onCommand }: AsInstalledOptions,
): Promise<void> {
  const program = findManagerProgram("npm");
  if (program === undefined) throw failure("InstallFailed", { what, reason: "there is no npm on the PATH" });
  onCommand(["npm", ...args].join(" "));
  const { exitCode, reason, tail } = await runManager(program, { cwd, args, timeoutMs: installMs, signal });
  if (exitCode === 0) return;
  const said = tail.trim().slice(-shownCharacters);
  const exit = `npm exited with code ${exitCode}${said === "" ? "" : `: ${said}`}`;
  throw failure("InstallFailed", { what, reason: reason ?? exit });
}

/** The name of a private pack that has none, where it is installed. */
const unnamed = "unnamed-pack";

/**
 * A private pack may have no name or version, without which npm does not pack it. Such a pack is copied, and gets the
 * missing ones in the copy. Returns the folder to pack, and the name of the package.
 */
function findPackable(location: string, name: string, temporary: string) {
  const manifest = parseJson(readFileSync(join(location, "package.json"))).value;
  if (!isRecord(manifest) || manifest.private !== true) return { folder: location, packed: name };
  const { name: ownName = unnamed, version = "0.0.0" } = manifest;
  if (manifest.name !== undefined && manifest.version !== undefined)
    return { folder: location, packed: name };
  const isBundling = (manifest.bundleDependencies ?? manifest.bundledDependencies) !== undefined;
  const folder = join(temporary, "copy");
  cpSync(location, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter(path) {
      const [first] = relative(location, path).split(sep);
      return first !== ".git" && (first !== "node_modules" || isBundling);
    },
  });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, name: ownName, version }));
  return { folder, packed: String(ownName) };
}

/** Packs a folder and installs the tarball into an empty project in `temporary`. Returns the project. */
async function installPacked(
  location: string,
  temporary: string,
  options: AsInstalledOptions,
): Promise<string> {
  const tarballs = join(temporary, "tarballs");
  const project = join(temporary, "project");
  for (const folder of [tarballs, project]) mkdirSync(folder);
  await runNpm(
    "pack the package",
    ["pack", "--ignore-scripts", "--pack-destination", tarballs],
    location,
    options,
  );
  const packed = readdirSync(tarballs).map((file) => join(tarballs, file));
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true }));
  const flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-progress"];
  const args = [
    "install",
    ...flags,
    ...(options.offline ? ["--offline"] : []),
    ...packed,
    ...options.tarballs,
  ];
  await runNpm("install the packed package", args, project, options);
  return project;
}

interface Finding {
  item: InspectedItem;
  problem: Problem;
}

const findInItem = (
  item: InspectedItem,
  path: Path,
  what: string,
  reason: string,
  hint?: string,
): Finding => ({
  item,
  problem: createProblem(
    "FailsAsInstalled",
    { what, reason, ...(hint === undefined ? {} : { hint }) },
    { path },
    "validation",
  ),
});

/** The use of an export of a module. */
interface NamedExport {
  item: InspectedItem;
  path: Path;
  handler: string;
  name: string;
}

/** The exports that handlers name, by module. */
function findNamedExports({ items }: InspectedPack): Map<string, [NamedExport, ...NamedExport[]]> {
  const modules = new Map<string, [NamedExport, ...NamedExport[]]>();
  for (const item of items)
    for (const { handler, path } of findHandlers(item)) {
      const place = typeof handler === "string" ? parseHandler(handler) : undefined;
      if (typeof handler !== "string" || place === undefined || "fault" in place) continue;
      const named: NamedExport = { item, path, handler, name: place.exportName };
      const others = modules.get(place.module);
      if (others === undefined) modules.set(place.module, [named]);
      else others.push(named);
    }
  return modules;
}

/**
 * A module whose default export has the types of the exports of another module, found as execution finds them: names that
 * Node does not detect in CommonJS are properties of its default export.
 */
const writeProbe = (href: string, names: readonly string[]): string => `
import * as all from ${JSON.stringify(href)};
const own = (object, key) =>
  (typeof object === "object" && object !== null) || typeof object === "function"
    ? Object.hasOwn(object, key) ? object[key] : undefined
    : undefined;
const main = own(all, "default");
const find = (name) => {
  if (name === "default") return own(main, "__esModule") === true ? own(main, "default") : main;
  return Object.hasOwn(all, name) ? all[name] : own(main, name);
};
export default ${JSON.stringify(names)}.map((name) => typeof find(name));
`;

/** Imports each module that a handler names, in a confined child of its own, and checks that it exports functions. */
async function importModules(
  inspected: InspectedPack,
  { signal, requireConfinement }: AsInstalledOptions,
): Promise<Finding[]> {
  const { location } = inspected.pack;
  const limits = { wallMs: moduleMs, packMs: moduleMs, restarts: 0 };
  const evaluator = createConfinedEvaluator({ signal, requireConfinement, limits });
  const findings: Finding[] = [];
  for (const [module, named] of findNamedExports(inspected)) {
    // The evaluator requires a default export that is data, which a handler's module does not have.
    const probe = join(location, `trailblaze-probe-${randomUUID()}.mjs`);
    const { href } = pathToFileURL(join(location, module));
    const names = named.map(({ name }) => name);
    writeFileSync(probe, writeProbe(href, names));
    const { results } = await evaluator.evaluate({ packageRoot: location, files: [probe] });
    rmSync(probe);
    if (signal.aborted) throw interrupted("import the modules");
    const result = results.get(probe) ?? { reason: "it was not imported" };
    if ("reason" in result) {
      const [{ item, path }] = named;
      findings.push(findInItem(item, path, `Module ${quote(module, 200)} cannot be imported`, result.reason));
      continue;
    }
    const types = Array.isArray(result.value) ? result.value : [];
    for (const [index, { item, path, handler, name }] of named.entries()) {
      if (types[index] === "function") continue;
      const exported = name === "default" ? "default export" : `export ${quote(name)}`;
      const reason = `${quote(module, 200)} has no ${exported} that is a function`;
      const hint = "Export a function with this name, or correct the handler.";
      findings.push(findInItem(item, path, `Handler ${quote(handler, 200)} cannot be called`, reason, hint));
    }
  }
  return findings;
}

/** Starts each subprocess server once and lists its tools. The config in `directory` has the timeouts. */
async function startServers(
  inspected: InspectedPack,
  directory: string,
  options: AsInstalledOptions,
): Promise<Finding[]> {
  const { signal } = options;
  const servers = inspected.items.filter(({ shape }) => shape === "subprocessServer");
  if (servers.length === 0) return [];
  const { port } = createInspectionPorts();
  const { timeouts } = await readConfig(port, { directory });
  const processes = createProcessPort();
  const findings: Finding[] = [];
  const events = { onStdoutNoise() {}, onListChanged() {}, onLeftOut() {} };
  for (const item of servers) {
    if (signal.aborted) throw interrupted("start the servers");
    const plan = planPackServer(port, inspected, item);
    const { label, command, args, cwd: folder, protocol, createEnvironment } = plan;
    options.onCommand([command, ...args].join(" "));
    const env = createEnvironment({
      hostEnvironment: process.env,
      platform: process.platform,
      device: undefined,
      sessionId: undefined,
      callback: undefined,
    });
    const launch = {
      ...{ label, command, args, cwd: folder, env, timeouts, protocol },
      logFile: undefined,
      secrets: () => [],
    };
    const server = startServer(launch, events, { processes });
    const stop = () => void server.close();
    signal.addEventListener("abort", stop);
    try {
      await server.ready;
    } catch (error) {
      if (!(error instanceof TrailblazeError)) throw error;
      const { message, hint } = error.problem;
      const reason = hint === undefined ? message : `${message} ${hint}`;
      const path = [item.definition?.script === undefined ? "command" : "script"];
      findings.push(findInItem(item, path, "The server cannot be started", reason.replace(/\.$/, "")));
    } finally {
      signal.removeEventListener("abort", stop);
      await server.close();
    }
    if (signal.aborted) throw interrupted("start the servers");
  }
  return findings;
}

async function inspectInstalled(
  project: string,
  name: string,
  { signal, requireConfinement }: AsInstalledOptions,
): Promise<InspectedPack | undefined> {
  const { port } = createInspectionPorts();
  const { packs } = await findPacks(port, { cwd: project });
  const found = packs.find(({ pack }) => pack.name === name);
  if (found === undefined) return undefined;
  const createEvaluator = async () => createConfinedEvaluator({ signal, requireConfinement });
  const inspected = await loadDefinitions(port, found, { createEvaluator });
  if (signal.aborted) throw interrupted("read the definitions");
  return inspected;
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
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-installed-")));
  try {
    const { folder, packed } = findPackable(location, name, temporary);
    const project = await installPacked(folder, temporary, options);
    const inspected = await inspectInstalled(project, packed, options);
    if (inspected === undefined) {
      const args = {
        what: "The installed package is not a pack",
        reason: "its `trailblaze` field is missing",
      };
      return [createProblem("FailsAsInstalled", args, { pack: name }, "validation")];
    }
    const broken = [...inspected.pack.problems, ...inspected.problems]
      .filter(({ severity }) => severity === "error")
      .map(({ message, code: _, severity: _s, hint: _h, args: _a, ...place }) => {
        const args = { what: "The installed pack has an error", reason: message.replace(/\.$/, "") };
        return createProblem("FailsAsInstalled", args, place, "validation");
      });
    const findings = [
      ...(await importModules(inspected, options)),
      ...(await startServers(inspected, location, options)),
    ];
    const found = [...broken, ...(await placeInItems(inspected, findings))];
    return found.map((problem) => ({ ...problem, pack: name }));
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}
