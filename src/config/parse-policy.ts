import { DataSyntaxError } from "../data/decode.ts";
import { describeType, isRecord } from "../data/parse-json.ts";
import { type Locate, parseSource } from "../data/source-text.ts";
import type { PolicyFileRead } from "../files/policy-file.ts";
import { failure, listOf, type Path, quote } from "../problems/index.ts";
import { isPackageName, splitSpec } from "../qualified-names/item-name.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import type { PolicyRead } from "./administrator-policy.ts";
import { type AdministratorPolicy, normalizeRegistry, type PackageRule } from "./policy-rules.ts";

const keys = [
  "packs",
  "servers",
  "registries",
  "lock",
  "isolation",
  "requireConfinement",
  "install",
  "contact",
] as const;

/** What is wrong with a policy, and where. */
class PolicyFault extends Error {
  readonly path: Path;
  readonly hint: string | undefined;

  constructor(reason: string, path: Path, hint?: string) {
    super(reason);
    this.path = path;
    this.hint = hint;
  }
}

const found = (value: unknown) => (typeof value === "string" ? quote(value) : describeType(value));

/** The object at a key; empty without it. */
function readObject(value: unknown, path: Path, known: readonly string[]): Record<string, unknown> {
  const name = path.length === 0 ? "the policy" : `\`${path.join(".")}\``;
  if (value === undefined) return {};
  if (!isRecord(value))
    throw new PolicyFault(`${name} must be an object, but it is ${describeType(value)}`, path);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const [nearest] = findNearestNames(key, known);
    const hint =
      nearest === undefined ? `The keys are ${listOf([...known], "and")}.` : `Did you mean "${nearest}"?`;
    throw new PolicyFault(`${name} has no key ${quote(key)}`, [...path, key], hint);
  }
  return value;
}

function readChoice<Choice extends string>(
  value: unknown,
  path: Path,
  choices: readonly Choice[],
): Choice | undefined {
  if (value === undefined) return undefined;
  const choice = choices.find((one) => one === value);
  if (choice !== undefined) return choice;
  throw new PolicyFault(
    `\`${path.join(".")}\` must be ${listOf([...choices])}, but it is ${found(value)}`,
    path,
  );
}

function readBoolean(value: unknown, path: Path, usual: boolean): boolean {
  if (value === undefined || typeof value === "boolean") return value ?? usual;
  throw new PolicyFault(`\`${path.join(".")}\` must be true or false, but it is ${found(value)}`, path);
}

function readString(value: unknown, path: Path): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new PolicyFault(`\`${path.join(".")}\` must be a string, but it is ${describeType(value)}`, path);
}

/** Reads an array of strings, each with its path. */
function readStrings(value: unknown, path: Path): { text: string; at: Path }[] | undefined {
  if (value === undefined) return undefined;
  const name = `\`${path.join(".")}\``;
  if (!Array.isArray(value))
    throw new PolicyFault(`${name} must be an array, but it is ${describeType(value)}`, path);
  return value.map((text: unknown, index) => {
    const at = [...path, index];
    if (typeof text === "string") return { text, at };
    throw new PolicyFault(`each element of ${name} must be a string, but this is ${describeType(text)}`, at);
  });
}

const patternHint = "Use @scope/name, @scope/* or name, optionally with a range: name@^1.3.";

/** Whether a pattern can match an npm name: with a letter for each `*`, it is one. */
const canMatch = (pattern: string): boolean => isPackageName(pattern.replace(/\*+/g, "x"));

/** The patterns that one written pattern means. A single `*` means every package, with and without a scope. */
const expand = (pattern: string): string[] => (/^\*+$/.test(pattern) ? ["*", "@*/*"] : [pattern]);

/** Whether versions are in a range; `undefined` for an invalid range. What is no version counts as `isInDoubt`. */
async function compileRange(
  range: string,
  { isInDoubt }: { isInDoubt: boolean },
): Promise<PackageRule["includes"]> {
  if (range.trim() === "") return undefined;
  const [{ default: Range }, { default: valid }] = await Promise.all([
    import("semver/classes/range.js"),
    import("semver/functions/valid.js"),
  ]);
  try {
    // A prerelease is in a range of `deny`, and in one of `allow` only if the range names it.
    const compiled = new Range(range, { includePrerelease: isInDoubt });
    return (version) => (valid(version) === null ? isInDoubt : compiled.test(version));
  } catch {
    return undefined;
  }
}

async function readRules(
  value: unknown,
  path: Path,
  options: { isInDoubt: boolean },
): Promise<PackageRule[] | undefined> {
  const written = readStrings(value, path);
  if (written === undefined) return undefined;
  const rules: PackageRule[] = [];
  for (const { text, at } of written) {
    const { name, range } = splitSpec(text);
    if (!canMatch(name))
      throw new PolicyFault(`${quote(text)} is not a pattern of npm names`, at, patternHint);
    const includes = range === undefined ? undefined : await compileRange(range, options);
    if (range !== undefined && includes === undefined)
      throw new PolicyFault(`${quote(text)} has an invalid version range`, at, patternHint);
    rules.push(...expand(name).map((pattern): PackageRule => ({ names: [pattern], includes })));
  }
  return rules;
}

function readRegistries(value: unknown): string[] | undefined {
  return readStrings(value, ["registries"])?.map(({ text, at }) => {
    const address = normalizeRegistry(text);
    if (address !== undefined) return address;
    throw new PolicyFault(`${quote(text)} is not an http or https URL`, at);
  });
}

async function readKeys(file: string, value: unknown): Promise<AdministratorPolicy> {
  if (value === undefined) throw new PolicyFault("the policy is empty", []);
  const policy = readObject(value, [], keys);
  const packs = readObject(policy.packs, ["packs"], ["allow", "deny"]);
  const servers = readObject(policy.servers, ["servers"], ["config"]);
  return {
    file,
    settings: policy,
    contact: readString(policy.contact, ["contact"]),
    packs: {
      allow: await readRules(packs.allow, ["packs", "allow"], { isInDoubt: false }),
      deny: (await readRules(packs.deny, ["packs", "deny"], { isInDoubt: true })) ?? [],
    },
    allowsConfigServers: readChoice(servers.config, ["servers", "config"], ["allow", "deny"]) !== "deny",
    registries: readRegistries(policy.registries),
    lock: readChoice(policy.lock, ["lock"], ["surface", "code", "frozen"]),
    isolation: readChoice(policy.isolation, ["isolation"], ["process"]),
    requireConfinement: readBoolean(policy.requireConfinement, ["requireConfinement"], false),
    allowsInstall: readBoolean(policy.install, ["install"], true),
  };
}

/** Parses a policy strictly: an unknown or a duplicate key is an error. Never rejects. */
export async function parsePolicy(read: Exclude<PolicyFileRead, { state: "absent" }>): Promise<PolicyRead> {
  const { file } = read;
  if (read.state !== "read") {
    const code = read.state === "unsafe" ? "PolicyUnsafe" : "PolicyMalformed";
    return { fault: failure(code, { policy: file, reason: read.reason }, { file }) };
  }
  const locate: { find: (() => Promise<Locate | undefined>) | undefined } = { find: undefined };
  try {
    const { value, source } = await parseSource("json", read.bytes);
    locate.find = source.createLocator;
    return { policy: await readKeys(file, value) };
  } catch (error) {
    if (error instanceof PolicyFault) {
      const { message: reason, path, hint } = error;
      const position = (await locate.find?.())?.(path);
      return {
        fault: failure("PolicyMalformed", { policy: file, reason, hint }, { file, path, ...position }),
      };
    }
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, cause, ...position } = describeSyntaxError(error);
    return { fault: failure("PolicyMalformed", { policy: file, reason, cause }, { file, ...position }) };
  }
}
