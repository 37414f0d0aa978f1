import { basename } from "node:path";
import { findRepeatedTopKeys } from "../data/duplicate-keys.ts";
import { describeType, isRecord } from "../data/parse-json.ts";
import { createJsonSource, locateProblems, type UnlocatedProblem } from "../data/source-text.ts";
import { type Declaration, parseExtension } from "../extension-schema/index.ts";
import { createProblem, type Path, type Problem, type ProblemContext } from "../problems/index.ts";
import { isPackageName, qualifyPackageName } from "../qualified-names/item-name.ts";
import { hostVersion } from "../version.ts";
import type { DiscoveredItem, FoundPack, Manifest, Origin } from "./types.ts";

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The range of hosts that a package says it works with. */
function hostRangeOf({ value }: Manifest): unknown {
  const { engines } = value;
  return isRecord(engines) ? engines.trailblaze : undefined;
}

/** A longer range is no range that anybody wrote, and would take seconds to read. */
const maximumRange = 256;

/** Compares this host with the range a pack asks for; semver is loaded only if it asks for any. */
async function checkHostVersion(manifest: Manifest, context: ProblemContext): Promise<Problem | undefined> {
  const range = hostRangeOf(manifest);
  if (range === undefined) return undefined;
  const { default: Range } = await import("semver/classes/range.js");
  let invalid = typeof range !== "string" || range.length > maximumRange;
  try {
    if (!invalid && new Range(range as string).test(hostVersion)) return undefined;
  } catch {
    invalid = true;
  }
  const args = {
    range: typeof range === "string" ? range : describeType(range),
    version: hostVersion,
    invalid,
  };
  return createProblem("HostVersionUnsupported", args, {}, context);
}

const repeatedField = {
  what: 'The key "trailblaze"',
  expected: "there once",
  found: "there again; only the last one counts",
};

/** How often a text says the field's name where it may be a key. */
function countInText(text: string): number {
  const name = '"trailblaze"';
  let count = 0;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    let next = at + name.length;
    while (" \t\r\n".includes(text.charAt(next)) && next < text.length) next++;
    if (text.charCodeAt(next) === 0x3a) count++;
  }
  return count;
}

/** Whether the field is there twice. The keys are gone through only where more of them have its name than is usual. */
function isFieldRepeated({ text, value }: Manifest): boolean {
  const { engines, dependencies, devDependencies, peerDependencies } = value;
  const holders = [value, engines, dependencies, devDependencies, peerDependencies].filter(isRecord);
  const usual = holders.filter((holder) => Object.hasOwn(holder, "trailblaze")).length;
  if (!text.includes("\\u00") && countInText(text) <= usual) return false;
  return findRepeatedTopKeys(text).has("trailblaze");
}

/**
 * Reads what a package.json with a `trailblaze` field says. `shadowed` and `enabled`, which depend on the other packs and
 * the user's config, are false here.
 */
export async function describePack(
  location: string,
  manifest: Manifest,
  origin: Origin,
  installedAs: readonly string[] = [],
  context: ProblemContext = "operation",
  nameContext: ProblemContext = context,
): Promise<FoundPack> {
  const { value } = manifest;
  const found: UnlocatedProblem[] = [];
  const source = createJsonSource(manifest.text);
  const note = (problem: Problem, at: Path) =>
    found.push({ problem: { ...problem, pack: name, file: "package.json" }, source, at });
  const hasName = typeof value.name === "string" && isPackageName(value.name);
  const name = hasName ? (value.name as string) : (installedAs.find(isPackageName) ?? basename(location));
  const isSource = origin === "self" || origin === "workspace";
  // A package under development may have no name yet; one that is there must be usable.
  if (!hasName && !(isSource && value.name === undefined)) {
    const reason = value.name === undefined ? "it has no name" : "npm allows no package of its name";
    const args = { reason, location, isSource };
    note(createProblem("MalformedPackageJson", args, {}, nameContext), ["name"]);
  }
  const { extension, problems: fieldProblems, usable } = parseExtension(value.trailblaze, context);
  for (const problem of fieldProblems) note(problem, ["trailblaze", ...(problem.path ?? [])]);
  if (isFieldRepeated(manifest))
    note(createProblem("MalformedExtension", repeatedField, { path: [] }, context), ["trailblaze"]);
  const hostProblem = await checkHostVersion(manifest, context);
  if (hostProblem !== undefined) note(hostProblem, ["engines", "trailblaze"]);

  const qualifiedName = qualifyPackageName(name);
  const describeItems = (declarations: readonly Declaration[]): DiscoveredItem[] =>
    declarations.map((item) => ({
      name: item.name,
      qualifiedName: `${qualifiedName}/${item.name}`,
      description: item.description,
    }));
  return {
    pack: {
      name,
      qualifiedName,
      version: textOrNull(value.version),
      description: textOrNull(value.description),
      location,
      origin,
      shadowed: false,
      enabled: false,
      servers: describeItems(extension.servers),
      tools: describeItems(extension.tools),
      toolsets: describeItems(extension.toolsets),
      prompts: describeItems(extension.prompts),
      problems: await locateProblems(found),
    },
    manifest,
    extension,
    isUsable: usable && hostProblem === undefined,
  };
}
