import { basename, dirname, join, resolve } from "node:path";
import { DataSyntaxError } from "../data/decode.ts";
import { isRecord } from "../data/parse-json.ts";
import { describeFault } from "../discovery/describe-fault.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { type FoundPacks, findPacks } from "../discovery/find-packs.ts";
import { isFault, type ManifestFault, readManifest } from "../discovery/manifest.ts";
import { findProject } from "../discovery/project.ts";
import type { DiscoveredPack, FoundPack, Manifest, Origin } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import {
  findOwner,
  findPackBySubject,
  findPacksFor,
  type InspectionOptions,
  type InspectionPorts,
  missingPack,
} from "../inspection/inspect.ts";
import { createInspectionPorts } from "../inspection/inspection-ports.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import {
  createProblem,
  failure,
  hasErrors,
  type Problem,
  quote,
  TrailblazeError,
} from "../problems/index.ts";
import { quoteForShell } from "../problems/text.ts";
import { isPackageName, isQualifiedName } from "../qualified-names/index.ts";
import { checks } from "./checks/index.ts";
import { runChecks } from "./finding.ts";
import { PackUnderTest } from "./pack-under-test.ts";

/** The problems of a pack, and its items. */
export type ValidationReport = {
  /** True if there are no errors, and with `strict` no warnings. */
  ok: boolean;
  /** The npm name; `null` if package.json has none. */
  pack: string | null;
  version: string | null;
} & Record<KindKey, string[]> & { problems: Problem[] };

/** A report with the sources for showing it. */
export interface DetailedReport {
  report: ValidationReport;
  /** Absolute path of the package. */
  location: string;
  /** The texts that positions refer to, by file. */
  texts: ReadonlyMap<string, string>;
}

/** The options of an inspection, and what counts as a failure. */
export interface ValidationOptions extends InspectionOptions {
  /** Treat warnings as errors. */
  strict?: boolean;
}

/** A package to validate. */
interface Target {
  location: string;
  read: Manifest | ManifestFault | undefined;
  origin: Origin;
  /** The name it is installed under. */
  installedAs?: string | undefined;
  /** Without the field, a folder is an invalid pack, but an installed package is not a pack. */
  byName?: boolean;
  findContext: () => Promise<FoundPacks>;
}

/** True for paths that cannot be names; `acme/jira` may also be the name `@acme/jira`. */
function isPath(target: string): boolean {
  return /^[./\\]|^[A-Za-z]:[/\\]/.test(target) || !(isPackageName(target) || isPackageName(`@${target}`));
}

const isSource = (origin: Origin) => origin === "self" || origin === "workspace";

async function findTarget(
  ports: InspectionPorts,
  target: string | DiscoveredPack,
  { cwd: explicitCwd, global = false }: ValidationOptions,
): Promise<Target> {
  const { port } = ports;
  const cwd = explicitCwd ?? process.cwd();
  const findContextIn = (directory: string) => findPacks(port, { cwd: directory, global });
  if (typeof target !== "string" && typeof target?.location !== "string") {
    throw failure("InvalidArguments", { reason: "The target must be a folder, a name or a pack" });
  }
  if (typeof target !== "string") {
    const { location, origin, name } = target;
    const read = readManifest(port, location);
    const findContext = () => {
      // If this process is not in a project, the pack's own folder determines the context.
      const isElsewhere = explicitCwd === undefined && !isInProject(port, cwd);
      return findContextIn(origin === "self" || isElsewhere ? location : cwd);
    };
    return { location, read, origin, installedAs: isSource(origin) ? undefined : name, findContext };
  }
  const folder = resolve(cwd, target);
  const isProject = target === ".";
  const isFolder = port.exists(join(folder, "package.json"));
  if (!isProject && !isFolder && isQualifiedName(target) && !port.exists(folder))
    rejectItem(await findPacksFor(port, target, { cwd, global }), target);
  const parent = isFolder ? undefined : port.realPath(dirname(folder));
  if (parent !== undefined && port.describePath(parent, basename(folder)) === "file") {
    const hint = "Pass the folder of its package.json, or nothing to validate the current project.";
    const reason = `${quote(target, 400)} is a file, but packages are validated as a whole`;
    throw failure("InvalidArguments", { reason, hint });
  }
  if (isProject || isFolder || isPath(target)) {
    // Only "." refers to the enclosing project; other folders must contain the package.
    const { location, read } = isProject ? readProject(port, folder) : readFolder(port, folder);
    return { location, read, origin: "self", findContext: () => findContextIn(location) };
  }
  const found = await findPacksFor(port, target, { cwd, global });
  const named = findPackBySubject(found, target);
  if (named === undefined) {
    rejectItem(found, target);
    if (port.exists(folder)) throw failure("ProjectNotFound", { directory: folder, exists: true });
    throw await missingPack(port, found, target);
  }
  const { location, origin, name } = named.pack;
  const findContext = async () => found;
  return { location, read: named.manifest, origin, installedAs: name, byName: true, findContext };
}

/** Throws `InvalidArguments` for the name of an item, because packs are validated as a whole. */
function rejectItem(found: FoundPacks, target: string): void {
  const owner = findOwner(found, target);
  if (owner === undefined) return;
  const { qualifiedName } = owner.pack;
  const reason = `${quote(target, 400)} is an item, but packs are validated as a whole`;
  throw failure("InvalidArguments", {
    reason,
    hint: `Run: trailblaze validate ${quoteForShell(qualifiedName)}`,
  });
}

function isInProject(port: InspectionPort, cwd: string): boolean {
  try {
    findProject(port, cwd);
    return true;
  } catch (error) {
    if (error instanceof TrailblazeError && error.code === "ProjectNotFound") return false;
    throw error;
  }
}

type ReadPackage = Pick<Target, "location" | "read">;

function readProject(port: InspectionPort, cwd: string): ReadPackage {
  const { directory, manifest, fault } = findProject(port, cwd);
  return { location: directory, read: manifest ?? fault };
}

function readFolder(port: InspectionPort, folder: string): ReadPackage {
  const location = port.realPath(folder);
  if (location === undefined)
    throw failure("ProjectNotFound", { directory: folder, exists: false }, {}, { isMissingTarget: true });
  return { location, read: readManifest(port, location) };
}

/** The name in a package.json that is not valid JSON, if it can be recovered. */
async function readLegibleName(text: string): Promise<string | undefined> {
  const { parseBroken } = await import("../data/json-positions.ts");
  const value = parseBroken(text);
  return isRecord(value) && typeof value.name === "string" && isPackageName(value.name)
    ? value.name
    : undefined;
}

function createReport(
  pack: string | null,
  version: string | null,
  problems: Problem[],
  strict: boolean,
): ValidationReport {
  const fails = ({ severity }: Problem) => strict && severity === "warning";
  const ok = !hasErrors(problems) && !problems.some(fails);
  return { ok, pack, version, servers: [], tools: [], toolsets: [], prompts: [], resources: [], problems };
}

/** Loads the definitions of a pack. */
async function readPack(
  ports: InspectionPorts,
  found: FoundPack,
  { findContext, ...options }: ValidationOptions & Pick<Target, "findContext">,
): Promise<PackUnderTest> {
  const { port } = ports;
  const { dataOnly = false, builtIns = [] } = options;
  const { location } = found.pack;
  const inspected = await loadDefinitions(port, found, {
    dataOnly,
    context: "validation",
    unneeded: true,
    createEvaluator: () => ports.createEvaluator(options),
  });
  const project = { directory: location, manifest: found.manifest, fault: undefined };
  const sources = { port, builtIns, findContext, findWorkspace: () => findWorkspace(port, project) };
  return new PackUnderTest(inspected, sources);
}

/** Like `validateExtension`, but also returns the texts that positions refer to. */
export async function validateTarget(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
  ports: InspectionPorts = createInspectionPorts(),
): Promise<DetailedReport> {
  const { strict = false } = options;
  const { location, read, origin, installedAs, byName, findContext } = await findTarget(
    ports,
    target,
    options,
  );
  if (read === undefined) throw failure("ProjectNotFound", { directory: location, exists: true });
  if (isFault(read)) {
    const text = read.fault instanceof DataSyntaxError ? read.fault.text : undefined;
    const name = text === undefined ? undefined : await readLegibleName(text);
    const problem = describeFault(read, name, { context: "validation", isSource: true });
    const texts = new Map(text === undefined ? [] : [["package.json", text]]);
    return { report: createReport(name ?? null, null, [problem], strict), location, texts };
  }
  const { value, text } = read;
  const texts = new Map([["package.json", text]]);
  const name = typeof value.name === "string" ? value.name : null;
  const version = typeof value.version === "string" ? value.version : null;
  if (!Object.hasOwn(value, "trailblaze")) {
    if (byName) throw failure("ExtensionNotFound", { name: name ?? location });
    const place = { ...(name === null ? {} : { pack: name }), file: "package.json", line: 1, column: 1 };
    const hasMembers =
      Object.hasOwn(value, "workspaces") || ports.port.exists(join(location, "pnpm-workspace.yaml"));
    const args = { name: name ?? "The package", ...(hasMembers ? { hasMembers } : {}) };
    const problem = createProblem("NoExtension", args, place, "validation");
    return { report: createReport(name, version, [problem], strict), location, texts };
  }
  const found = await describePack({ location, manifest: read, origin, name: installedAs }, "validation");
  const pack = await readPack(ports, found, { ...options, findContext });
  const { inspected } = pack;
  const ofChecks = (await runChecks(pack, checks)).map(({ problem }) => problem);
  const isReported = new Set(ofChecks.map(({ code, file }) => `${code} ${file}`));
  const ofInspection = inspected.problems.filter(
    ({ code, file, args }) =>
      // The finding for all versions of Node replaces the one for this version.
      !(
        code === "UnsupportedDefinitionFormat" &&
        args.cause === "typesNotStripped" &&
        value.private !== true &&
        isReported.has(`TypeScriptNotPublishable ${file}`)
      ),
  );
  // The finding of the check explains the name better than that of discovery.
  const isRefused = ofChecks.some(
    ({ code, args }) => code === "InvalidPackageManifest" && args.key === "name",
  );
  const ofPack = found.pack.problems.filter(({ code }) => !(isRefused && code === "MalformedPackageJson"));
  const problems = [...ofPack, ...ofInspection, ...ofChecks];
  const report = createReport(found.pack.name, version, problems, strict);
  for (const kind of kinds) report[keyOfKind[kind]] = found.pack[keyOfKind[kind]].map((item) => item.name);
  for (const [file, source] of inspected.texts) texts.set(file, source.text);
  for (const { file, line } of ofChecks) {
    const text = file === undefined || line === undefined ? undefined : pack.files.texts.get(file);
    if (file !== undefined && text !== undefined && !texts.has(file)) texts.set(file, text);
  }
  return { report, location, texts };
}
