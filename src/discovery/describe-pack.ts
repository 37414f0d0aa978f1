import { basename } from "node:path";
import { describeType, isRecord, isText, textOrNull } from "../data/parse-json.ts";
import { locateProblems, type SourceText, type UnlocatedProblem } from "../data/source-text.ts";
import { parseExtension } from "../extension-schema/parse-extension.ts";
import { type DiscoveryPort, maximumManifestBytes } from "../files/discovery-port.ts";
import { byKind } from "../kinds.ts";
import { createProblem, type Path, type Problem } from "../problems/index.ts";
import { isPackageName, qualifyPackageName } from "../qualified-names/item-name.ts";
import { mayHaveSkills } from "../skills/skill-folders.ts";
import { hostVersion } from "../version.ts";
import { isFault, type ManifestFault, type ReadPackage } from "./manifest.ts";
import {
  type DiscoveredItem,
  type DiscoveredPack,
  type FoundPack,
  isDeclaredOrigin,
  isPack,
  type Origin,
} from "./types.ts";

/** Limit on the length of a range: parsing a hostile one could take seconds. */
const maximumRange = 256;

async function checkHostVersion(engines: unknown): Promise<Problem | undefined> {
  const range = isRecord(engines) ? engines.trailblaze : undefined;
  if (range === undefined) return undefined;
  const { default: Range } = await import("semver/classes/range.js");
  let parsed: InstanceType<typeof Range> | undefined;
  try {
    if (isText(range) && range.length <= maximumRange) parsed = new Range(range);
  } catch {}
  if (parsed?.test(hostVersion)) return undefined;
  const shown = isText(range) ? range : describeType(range);
  const args = { range: shown, version: hostVersion, invalid: parsed === undefined };
  return createProblem("HostVersionUnsupported", args);
}

/** The problem of a broken package: a warning, unless it is the project or one of its declared dependencies. */
const rate = (problem: Problem, origin: Origin): Problem =>
  origin === "self" || origin === "direct" ? problem : { ...problem, severity: "warning" };

/** `name`: what the package is installed under; `undefined` for one of the project or its workspace. */
export async function describeFault(
  fault: ManifestFault,
  { location, name }: Pick<ReadPackage, "location" | "name">,
): Promise<Problem> {
  const place = { pack: name, file: "package.json" };
  if ("tooLarge" in fault) {
    const args = { bytes: fault.tooLarge, limit: maximumManifestBytes, location };
    return createProblem("PackageJsonTooLarge", args, place);
  }
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, ...position } = describeSyntaxError(fault);
  const args = { reason, location, isSource: name === undefined };
  return createProblem("MalformedPackageJson", args, { ...place, ...position });
}

/** Describes a pack. Leaves `shadowed` and `enabled`, which depend on other packs and the user's config, false. */
export async function describePack(
  port: DiscoveryPort,
  { location, manifest, origin, name: installedAs }: Omit<ReadPackage, "read"> & Pick<FoundPack, "manifest">,
): Promise<FoundPack> {
  const { value } = manifest;
  const found: UnlocatedProblem[] = [];
  const source: SourceText = { text: manifest.text, format: "json" };
  const note = (problem: Problem, at: Path) =>
    found.push({ problem: { ...problem, pack: name, file: "package.json" }, source, at });
  const packageName = isText(value.name) && isPackageName(value.name) ? value.name : undefined;
  const name = installedAs ?? packageName ?? basename(location);
  const isSource = origin === "self" || origin === "workspace";
  // A package under development may have no name yet, but a name must be valid.
  if (packageName === undefined && !(isSource && value.name === undefined)) {
    const reason = value.name === undefined ? "`name` is missing" : "npm does not allow its name";
    note(rate(createProblem("MalformedPackageJson", { reason, location, isSource }), origin), ["name"]);
  }
  const isAliased = packageName !== undefined && packageName !== name;
  if (isAliased) note(createProblem("AliasedPack", { name, packageName }), ["name"]);
  const hasField = Object.hasOwn(value, "trailblaze");
  const field = hasField ? value.trailblaze : {};
  const { extension, problems, usable } = parseExtension(field);
  for (const problem of problems) note(problem, ["trailblaze", ...(problem.path ?? [])]);
  const hostProblem = await checkHostVersion(value.engines);
  if (hostProblem !== undefined) note(hostProblem, ["engines", "trailblaze"]);

  if (extension.skills.length > 0 || mayHaveSkills(port, location)) {
    const { declareSkills } = await import("./pack-skills.ts");
    const declared = declareSkills(port, { location, name }, { isSource, field, source }, extension.skills);
    extension.skills = declared.declarations;
    found.push(...declared.problems);
  }
  const qualifiedName = qualifyPackageName(name);
  const items = byKind((key) =>
    extension[key].map(
      ({ name, description, skill }): DiscoveredItem => ({
        name,
        qualifiedName: `${qualifiedName}/${name}`,
        description,
        ...(skill && { path: skill.path }),
      }),
    ),
  );
  const pack: DiscoveredPack = {
    name,
    qualifiedName,
    ...(isAliased && { packageName }),
    version: textOrNull(value.version),
    description: textOrNull(value.description),
    location,
    origin,
    shadowed: false,
    enabled: false,
    ...(extension.needs && { needs: extension.needs }),
    ...items,
    problems: await locateProblems(found),
  };
  const isUsable = usable && hostProblem === undefined;
  return { pack, manifest, extension, hasField, isUsable };
}

/**
 * Describes the packages that are packs: those with the field, and declared ones with skills. Those whose package.json cannot be
 * used are added to `broken`.
 */
export async function describePackages(
  port: DiscoveryPort,
  packages: readonly ReadPackage[],
  broken: Map<string, Problem>,
): Promise<FoundPack[]> {
  const packs: FoundPack[] = [];
  for (const { read, ...source } of packages) {
    const { location, origin } = source;
    if (isFault(read)) broken.set(location, rate(await describeFault(read, source), origin));
    else if (
      Object.hasOwn(read.value, "trailblaze") ||
      (isDeclaredOrigin(origin) && mayHaveSkills(port, location))
    ) {
      const found = await describePack(port, { ...source, manifest: read });
      if (isPack(found)) packs.push(found);
    }
  }
  return packs;
}
