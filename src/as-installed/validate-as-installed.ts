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
import { isRecord, parseJson } from "../data/parse-json.ts";
import { findPacks } from "../discovery/find-packs.ts";
import { findHandlers, parseHandler } from "../extension-schema/references.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { placeInItems } from "../inspection/place-problems.ts";
import type { InspectedItem, InspectedPack } from "../inspection/types.ts";
import { findManagerProgram, runManager } from "../npm/managers/package-manager.ts";
import { createProblem, failure, type Problem, type ProblemPlace, quote } from "../problems/index.ts";
import { openSessionByRules } from "../session/open-session.ts";

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

interface Finding {
  item: InspectedItem;
  problem: Problem;
}

const installMs = 600_000;
const moduleMs = 10_000;
/** The last words of a program. */
const shownCharacters = 2000;

const interrupted = (what: string) => failure("InstallFailed", { what, reason: "it was interrupted" });

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

/**
 * A private pack may have no name or version, without which npm does not pack it. Such a pack is copied, and gets the
 * missing ones in the copy. Returns the folder to pack, and the name of the package.
 */
function findPackable(location: string, temporary: string): { folder: string; packed: unknown } {
  const { value: manifest } = parseJson(readFileSync(join(location, "package.json")));
  if (!isRecord(manifest)) return { folder: location, packed: undefined };
  const { name = "unnamed-pack", version = "0.0.0", private: isPrivate } = manifest;
  const isComplete = manifest.name !== undefined && manifest.version !== undefined;
  if (isPrivate !== true || isComplete) return { folder: location, packed: name };
  const isBundling = (manifest.bundleDependencies ?? manifest.bundledDependencies) !== undefined;
  const folder = join(temporary, "copy");
  const filter = (path: string) => {
    const [first] = relative(location, path).split(sep);
    return first !== ".git" && (first !== "node_modules" || isBundling);
  };
  cpSync(location, folder, { recursive: true, verbatimSymlinks: true, filter });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, name, version }));
  return { folder, packed: name };
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
async function* importModules(
  inspected: InspectedPack,
  { signal, requireConfinement }: AsInstalledOptions,
): AsyncGenerator<Finding> {
  const { location } = inspected.pack;
  const limits = { wallMs: moduleMs, packMs: moduleMs };
  const { evaluateConfined } = await import("../confinement/evaluate.ts");
  const uses = inspected.items.flatMap((item) =>
    findHandlers(item).flatMap(({ handler, path }) => {
      const place = typeof handler === "string" ? parseHandler(handler) : { fault: "" };
      return "fault" in place ? [] : { ...place, item, place: { path }, handler: String(handler) };
    }),
  );
  for (const module of new Set(uses.map((use) => use.module))) {
    const ofModule = uses.filter((use) => use.module === module);
    // A confined child requires a default export that is data, which a handler's module does not have.
    const probe = join(location, `trailblaze-probe-${randomUUID()}.mjs`);
    const names = ofModule.map(({ exportName }) => exportName);
    writeFileSync(probe, writeProbe(pathToFileURL(join(location, module)).href, names));
    const request = { packageRoot: location, files: [probe] };
    const { results } = await evaluateConfined(request, { signal, requireConfinement, limits });
    rmSync(probe);
    if (signal.aborted) throw interrupted("import the modules");
    const result = results.get(probe) ?? { reason: "it was not imported" };
    const quoted = quote(module, 200);
    for (const [index, { item, place, handler, exportName }] of ofModule.entries()) {
      if ("reason" in result) {
        yield { item, problem: createFailure(`Module ${quoted} cannot be imported`, result.reason, place) };
        break;
      }
      if (Array.isArray(result.value) && result.value[index] === "function") continue;
      const exported = exportName === "default" ? "default export" : `export ${quote(exportName)}`;
      const reason = `${quoted} has no ${exported} that is a function`;
      const hint = "Export a function with this name, or correct the handler.";
      yield {
        item,
        problem: createFailure(`Handler ${quote(handler, 200)} cannot be called`, reason, place, hint),
      };
    }
  }
}

/** Starts the subprocess servers in a session, which lists what they have. The config in `directory` has the timeouts. */
async function startServers(
  inspected: InspectedPack,
  { project, directory }: { project: string; directory: string },
  { signal, onCommand }: AsInstalledOptions,
): Promise<Finding[]> {
  const servers = inspected.items.filter(({ shape }) => shape === "subprocessServer");
  if (servers.length === 0) return [];
  const { timeouts } = await readConfig(createNodeInspectionPort(), { directory });
  const packs = { allow: [inspected.pack.qualifiedName] };
  const logDir = join(project, "logs");
  const config = { timeouts, packs, logDir, crash: "isolate", nameCollisions: "prefix" } as const;
  const session = await openSessionByRules(
    {
      cwd: project,
      config,
      lock: "off",
      signal,
      onCommand: ({ command, args }) => onCommand([command, ...args].join(" ")),
    },
    { userServers: "reported" },
  ).catch((error: unknown) => {
    throw signal.aborted ? interrupted("start the servers") : error;
  });
  await session.close();
  return servers.flatMap((item): Finding[] => {
    const problem = session.problems.find(
      ({ kind, item: name, severity }) =>
        kind === "server" && name === item.declaration.name && severity === "error",
    );
    if (problem === undefined) return [];
    const { message, hint } = problem;
    const path = [item.definition?.script === undefined ? "command" : "script"];
    const reason = hint === undefined ? message : `${message} ${hint}`;
    return [{ item, problem: createFailure("The server cannot be started", reason, { path }) }];
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
  const { signal, requireConfinement, offline } = options;
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-installed-")));
  try {
    const { folder, packed = name } = findPackable(location, temporary);
    const [tarballs, project] = [join(temporary, "tarballs"), join(temporary, "project")];
    for (const created of [tarballs, project]) mkdirSync(created);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true }));
    const packArgs = ["pack", "--ignore-scripts", "--pack-destination", tarballs];
    await runNpm("pack the package", folder, packArgs, options);
    const files = [...readdirSync(tarballs).map((file) => join(tarballs, file)), ...options.tarballs];
    const flags = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--no-progress"];
    const args = ["install", ...flags, ...(offline ? ["--offline"] : []), ...files];
    await runNpm("install the packed package", project, args, options);

    const port = createNodeInspectionPort();
    const { packs } = await findPacks(port, { cwd: project });
    const found = packs.find(({ pack }) => pack.name === packed);
    if (found === undefined) {
      const reason = "its `trailblaze` field is missing";
      return [createFailure("The installed package is not a pack", reason, { pack: name })];
    }
    const inspected = await loadDefinitions(port, found, { signal, requireConfinement });
    if (signal.aborted) throw interrupted("read the definitions");
    const findings: Finding[] = [];
    for await (const finding of importModules(inspected, options)) findings.push(finding);
    findings.push(...(await startServers(inspected, { project, directory: location }, options)));
    const broken = [...inspected.pack.problems, ...inspected.problems]
      .filter(({ severity }) => severity === "error")
      .map(({ message, code: _, severity: _s, hint: _h, args: _a, ...place }) =>
        createFailure("The installed pack has an error", message, place),
      );
    const problems = [...broken, ...(await placeInItems(inspected, findings))];
    return problems.map((problem) => ({ ...problem, pack: name }));
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  }
}
