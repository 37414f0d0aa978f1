import { DataSyntaxError } from "../data/decode.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../io/discovery-port.ts";
import { failure, quote, type TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";

/** Which packs the user lets in: the part of the config's `packs` that discovery needs. */
export interface PacksPolicy {
  /** Without it everything is allowed. */
  allow: readonly string[] | undefined;
  /** Wins over `allow`. */
  deny: readonly string[];
  /** Transitive packs to take. */
  transitive: readonly string[];
}

const everythingAllowed: PacksPolicy = { allow: undefined, deny: [], transitive: [] };
const knownKeys = ["allow", "deny", "transitive", "onError", "memory", "autoInstall"];
const files = ["trailblaze.config.yaml", "trailblaze.config.json"] as const;

type Path = readonly (string | number)[];
type Locate = (path: Path) => { line: number; column: number };

interface ConfigText {
  value: unknown;
  locate: Locate;
}

async function parseConfig(file: (typeof files)[number], bytes: Uint8Array): Promise<ConfigText> {
  if (file === "trailblaze.config.yaml") {
    const { parseYaml } = await import("../data/parse-yaml.ts");
    return parseYaml(bytes);
  }
  const { text, value } = parseJson(bytes);
  const { createJsonLocator } = await import("../data/json-positions.ts");
  return { value, locate: createJsonLocator(text) };
}

/** Where a text in the config file is at fault. */
async function syntaxFailure(file: string, error: DataSyntaxError): Promise<TrailblazeError> {
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, ...position } = describeSyntaxError(error);
  return failure("InvalidConfig", { reason }, { file, ...position });
}

function readPatterns(packs: Record<string, unknown>, key: string, fail: Fail): string[] | undefined {
  const value = packs[key];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value))
    fail(`\`packs.${key}\` must be a list of patterns, but is ${describeType(value)}`, [key]);
  for (const [index, pattern] of value.entries()) {
    if (typeof pattern !== "string" || pattern === "") {
      fail(`a pattern must be a text such as acme/*, but this is ${describeType(pattern)}`, [key, index]);
    }
  }
  return value as string[];
}

type Fail = (reason: string, path: Path, hint?: string) => never;

/**
 * Reads what the project's config says of packs. An absent file allows everything; one that cannot be understood is
 * refused as a whole, since a misread `deny` would let in what the user shut out.
 * Throws `TrailblazeError` `InvalidConfig` with file, line and column.
 */
export async function readPacksPolicy(port: DiscoveryPort, directory: string): Promise<PacksPolicy> {
  // A link that leads nowhere counts as present: a `deny` that cannot be read is not the same as none.
  const present = files.filter((file) => port.hasProjectFile(directory, file));
  const [file, second] = present;
  if (file === undefined) return everythingAllowed;
  if (second !== undefined) {
    throw failure("InvalidConfig", { reason: `both ${file} and ${second} are there` }, { file });
  }
  const bytes = port.readProjectFile(directory, file);
  if (bytes === undefined) throw failure("InvalidConfig", { reason: "the file cannot be read" }, { file });

  let config: ConfigText;
  try {
    config = await parseConfig(file, bytes);
  } catch (error) {
    if (error instanceof DataSyntaxError) throw await syntaxFailure(file, error);
    throw error;
  }
  const fail = (reason: string, path: Path, hint?: string): never => {
    const args = hint === undefined ? { reason } : { reason, hint };
    throw failure("InvalidConfig", args, { file, path, ...config.locate(path) });
  };
  return readPolicy(config.value, fail);
}

function readPolicy(config: unknown, fail: Fail): PacksPolicy {
  if (config === null || config === undefined) return everythingAllowed;
  if (!isRecord(config)) return fail(`it holds ${describeType(config)}, not a map`, []);
  const { packs } = config;
  if (packs === undefined || packs === null) return everythingAllowed;
  if (!isRecord(packs)) return fail(`\`packs\` must be a map, but is ${describeType(packs)}`, ["packs"]);
  const failInPacks: Fail = (reason, path, hint) => fail(reason, ["packs", ...path], hint);
  for (const key of Object.keys(packs)) {
    if (knownKeys.includes(key)) continue;
    const [nearest] = findNearestNames(key, knownKeys);
    failInPacks(`\`packs\` has no key ${quote(key)}`, [key], nearest && `Did you mean "${nearest}"?`);
  }
  return {
    allow: readPatterns(packs, "allow", failInPacks),
    deny: readPatterns(packs, "deny", failInPacks) ?? [],
    transitive: readPatterns(packs, "transitive", failInPacks) ?? [],
  };
}

/** True if `publisher/pack` or `publisher/pack/item` fits a pattern; `*` never crosses a slash. */
function matches(pattern: string, name: string): boolean {
  const wanted = pattern.replace(/^@/, "").split("/");
  const given = name.split("/");
  return (
    wanted.length === given.length && wanted.every((part, index) => matchesSegment(part, given[index] ?? ""))
  );
}

function matchesSegment(pattern: string, segment: string): boolean {
  const source = pattern
    .split(/\*+/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`).test(segment);
}

const matchesAny = (patterns: readonly string[], names: readonly string[]) =>
  patterns.some((pattern) => names.some((name) => matches(pattern, name)));

/**
 * Whether the policy lets in at least one of a pack's items, or the pack itself where it declares none. A pattern that
 * fits the pack covers all of its items. What only other packages name needs to be in `transitive` besides.
 */
export function isAllowed(
  { allow, deny, transitive }: PacksPolicy,
  pack: string,
  items: readonly string[],
  { isTransitive }: { isTransitive: boolean },
): boolean {
  const isTaken = (names: string[]) =>
    !matchesAny(deny, names) &&
    (allow === undefined || matchesAny(allow, names)) &&
    (!isTransitive || matchesAny(transitive, names));
  return items.length === 0 ? isTaken([pack]) : items.some((item) => isTaken([pack, item]));
}
