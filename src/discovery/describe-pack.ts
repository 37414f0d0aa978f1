import { basename } from "node:path";
import { findRepeatedTopKeys } from "../data/duplicate-keys.ts";
import { describeType } from "../data/parse-json.ts";
import { type Declaration, parseExtension } from "../extension-schema/index.ts";
import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { isPackageName, qualifyPackageName } from "../qualified-names/package-name.ts";
import { hostVersion } from "../version.ts";
import type { DiscoveredItem, FoundPack, Manifest, Origin } from "./types.ts";

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The range of hosts that a package says it works with. */
function hostRangeOf({ value }: Manifest): unknown {
  const { engines } = value;
  return typeof engines === "object" && engines !== null
    ? (engines as Record<string, unknown>).trailblaze
    : undefined;
}

async function locateKey({ text }: Manifest, key: string): Promise<{ line: number; column: number }> {
  const { createJsonLocator } = await import("../data/json-positions.ts");
  return createJsonLocator(text)([key]);
}

/** A longer range is no range that anybody wrote, and would take seconds to read. */
const maximumRange = 256;

/** Compares this host with the range a pack asks for; semver is loaded only if it asks for any. */
async function checkHostVersion(
  manifest: Manifest,
  pack: string,
  context: ProblemContext,
): Promise<Problem | undefined> {
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
  const place = { pack, file: "package.json" };
  return createProblem("HostVersionUnsupported", args, place, context);
}

/** Adds the pack, the file and, from the text, line and column to problems that have a path in the field. */
async function placeProblems(
  problems: readonly Problem[],
  pack: string,
  { text }: Manifest,
): Promise<Problem[]> {
  if (problems.length === 0) return [];
  const { createJsonLocator } = await import("../data/json-positions.ts");
  const locate = createJsonLocator(text);
  return problems.map((problem) => ({
    ...problem,
    pack,
    file: "package.json",
    ...locate(problem.path === undefined ? ["engines", "trailblaze"] : ["trailblaze", ...problem.path]),
  }));
}

const repeatedField = {
  what: 'The key "trailblaze"',
  expected: "there once",
  found: "there again; only the last one counts",
};

/** Whether the field is there twice. Most texts say its name once, or twice with `engines`. */
function isFieldRepeated({ text }: Manifest): boolean {
  const first = text.indexOf('"trailblaze"');
  const mayBeRepeated = text.includes('"trailblaze"', first + 1) || text.includes("\\u00");
  return mayBeRepeated && findRepeatedTopKeys(text).has("trailblaze");
}

/**
 * Reads what a package.json with a `trailblaze` field says. The result is complete but for what only the other packs
 * and the user's config can tell: `shadowed` and `enabled` say here whether the pack itself allows it.
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
  const problems: Problem[] = [];
  const hasName = typeof value.name === "string" && isPackageName(value.name);
  const name = hasName ? (value.name as string) : (installedAs.find(isPackageName) ?? basename(location));
  const isSource = origin === "self" || origin === "workspace";
  // A package under development may have no name yet; one that is there must be usable.
  if (!hasName && !(isSource && value.name === undefined)) {
    const reason = value.name === undefined ? "it has no name" : "npm allows no package of its name";
    const place = { pack: name, file: "package.json", ...(await locateKey(manifest, "name")) };
    problems.push(createProblem("MalformedPackageJson", { reason, location, isSource }, place, nameContext));
  }
  const { extension, problems: fieldProblems, usable } = parseExtension(value.trailblaze, context);
  if (isFieldRepeated(manifest))
    fieldProblems.push(createProblem("MalformedExtension", repeatedField, { path: [] }, context));
  const hostProblem = await checkHostVersion(manifest, name, context);
  if (hostProblem !== undefined) fieldProblems.push(hostProblem);

  const placed = await placeProblems(fieldProblems, name, manifest);
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
      enabled: usable && hostProblem === undefined,
      servers: describeItems(extension.servers),
      tools: describeItems(extension.tools),
      toolsets: describeItems(extension.toolsets),
      prompts: describeItems(extension.prompts),
      problems: problems.concat(placed),
    },
    manifest,
    extension,
  };
}
