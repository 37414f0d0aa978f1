import { join } from "node:path";
import { DataSyntaxError } from "../data/decode.ts";
import { isRecord } from "../data/parse-json.ts";
import { describeFault } from "../discovery/describe-fault.ts";
import { describePack } from "../discovery/describe-pack.ts";
import { isFault } from "../discovery/manifest.ts";
import type { DiscoveredPack } from "../discovery/types.ts";
import { findWorkspace } from "../discovery/workspace.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { InspectionOptions } from "../inspection/inspect.ts";
import { loadDefinitions } from "../inspection/load-definitions.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { type KindKey, keyOfKind, kinds } from "../kinds.ts";
import { createProblem, failure, type Problem } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/index.ts";
import { checks } from "./checks/index.ts";
import { findTarget } from "./find-target.ts";
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

/** The name in a package.json that is not valid JSON, if it can be recovered. */
async function readLegibleName(text: string): Promise<string | undefined> {
  const { parseBroken } = await import("../data/json-positions.ts");
  const value = parseBroken(text);
  return isRecord(value) && typeof value.name === "string" && isPackageName(value.name)
    ? value.name
    : undefined;
}

/** The problems of inspection that no finding of a check explains better. */
function withoutExplained(
  { problems, pack, manifest }: InspectedPack,
  ofChecks: readonly Problem[],
): Problem[] {
  const isReported = new Set(ofChecks.map(({ code, file }) => `${code} ${file}`));
  const isRefused = ofChecks.some(
    ({ code, args }) => code === "InvalidPackageManifest" && args.key === "name",
  );
  return [
    ...pack.problems.filter(({ code }) => !(isRefused && code === "MalformedPackageJson")),
    ...problems.filter(
      ({ code, file, args }) =>
        // The finding for all versions of Node replaces the one for this version.
        !(
          code === "UnsupportedDefinitionFormat" &&
          args.cause === "typesNotStripped" &&
          manifest.value.private !== true &&
          isReported.has(`TypeScriptNotPublishable ${file}`)
        ),
    ),
  ];
}

/** Like `validateExtension`, but also returns the texts that positions refer to. */
export async function validateTarget(
  target: string | DiscoveredPack,
  options: ValidationOptions = {},
  port: InspectionPort = createNodeInspectionPort(),
): Promise<DetailedReport> {
  const { strict = false, dataOnly, requireConfinement, builtIns = [] } = options;
  const { location, read, origin, installedAs, byName, findContext } = await findTarget(
    port,
    target,
    options,
  );
  const texts = new Map<string, string>();
  const report = (
    name: string | null,
    version: unknown,
    problems: Problem[],
    pack?: DiscoveredPack,
  ): DetailedReport => {
    const fails = ({ severity }: Problem) => severity === "error" || (strict && severity === "warning");
    const items = kinds.map((kind) => [
      keyOfKind[kind],
      pack?.[keyOfKind[kind]].map((item) => item.name) ?? [],
    ]);
    const ofItems: Record<KindKey, string[]> = Object.fromEntries(items);
    const known = typeof version === "string" ? version : null;
    const ok = !problems.some(fails);
    return { report: { ok, pack: name, version: known, ...ofItems, problems }, location, texts };
  };

  if (read === undefined) throw failure("ProjectNotFound", { directory: location, exists: true });
  if (isFault(read)) {
    const text = read.fault instanceof DataSyntaxError ? read.fault.text : undefined;
    const name = text === undefined ? undefined : await readLegibleName(text);
    if (text !== undefined) texts.set("package.json", text);
    return report(name ?? null, null, [describeFault(read, name, { context: "validation", isSource: true })]);
  }
  const { value, text } = read;
  texts.set("package.json", text);
  if (!Object.hasOwn(value, "trailblaze")) {
    const name = typeof value.name === "string" ? value.name : undefined;
    if (byName) throw failure("ExtensionNotFound", { name: name ?? location });
    const place = { pack: name, file: "package.json", line: 1, column: 1 };
    const hasMembers =
      Object.hasOwn(value, "workspaces") || port.exists(join(location, "pnpm-workspace.yaml"));
    const args = { name: name ?? "The package", hasMembers: hasMembers || undefined };
    const problem = createProblem("NoExtension", args, place, "validation");
    return report(name ?? null, value.version, [problem]);
  }

  const found = await describePack({ location, manifest: read, origin, name: installedAs }, "validation");
  const inspected = await loadDefinitions(port, found, {
    dataOnly,
    requireConfinement,
    context: "validation",
    unneeded: true,
  });
  const project = { directory: location, manifest: read, fault: undefined };
  const findMembers = () => findWorkspace(port, project);
  const pack = new PackUnderTest(inspected, { port, builtIns, findContext, findWorkspace: findMembers });
  const ofChecks = (await runChecks(pack, checks)).map(({ problem }) => problem);

  for (const [file, source] of inspected.texts) texts.set(file, source.text);
  for (const { file, line } of ofChecks) {
    const ofModule = file === undefined || line === undefined ? undefined : pack.files.texts.get(file);
    if (file !== undefined && ofModule !== undefined && !texts.has(file)) texts.set(file, ofModule);
  }
  const problems = [...withoutExplained(inspected, ofChecks), ...ofChecks];
  return report(found.pack.name, value.version, problems, found.pack);
}
