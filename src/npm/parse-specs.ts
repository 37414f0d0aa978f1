import parsePackageSpec, { type PackageSpec } from "npm-package-arg";
import validRange from "semver/ranges/valid.js";
import { failure } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/index.ts";
import { joinRanges } from "../qualified-names/join-ranges.ts";

/** A package of a registry, as somebody asked for it. */
export interface RegistrySpec {
  name: string;
  /** A dist-tag, a version or a semver range. */
  wanted: string;
  type: "tag" | "version" | "range";
  /** As a package manager is told. */
  text: string;
}

const kindsOfOthers: Readonly<Record<string, string>> = {
  git: "it is a git repository",
  file: "it is a file",
  directory: "it is a folder",
  remote: "it is a URL",
  alias: "it is an alias of another package",
};

const unsupported = (spec: string, reason: string) => failure("UnsupportedSpec", { spec, reason });

/** Reads what a person wrote. Nothing in it could be taken for an option or for a second spec. */
function parseSpec(spec: string): RegistrySpec {
  const given: unknown = spec;
  if (typeof given !== "string") throw unsupported(String(given), "it is no text");
  if (spec === "") throw unsupported(spec, "it is empty");
  if (/\s/.test(spec)) throw unsupported(spec, "it contains white space");
  if (/^-|@-/.test(spec)) throw unsupported(spec, "a package manager would read part of it as an option");
  if (spec.length > 512 || /[^!-~]/.test(spec))
    throw unsupported(spec, "no name and no version is like that");
  return readSpec(spec);
}

function readSpec(spec: string): RegistrySpec {
  let parsed: PackageSpec;
  try {
    parsed = parsePackageSpec(spec);
  } catch {
    throw unsupported(spec, "it is no name of a package, or what follows the @ is no version");
  }
  const { type, registry, name, fetchSpec, rawSpec } = parsed;
  if (type !== "tag" && type !== "version" && type !== "range") {
    const isQualified = /^[^@:/]+\/[^@:/]+(@|$)/.test(spec) && isPackageName(`@${spec.replace(/@.*/, "")}`);
    const meant = isQualified ? ` (is "@${spec}" meant?)` : "";
    throw unsupported(spec, `${kindsOfOthers[type] ?? "it is no package of a registry"}${meant}`);
  }
  if (registry !== true || typeof name !== "string" || !isPackageName(name))
    throw unsupported(spec, "npm allows no package of that name");
  // Without a version, or with `*`, package managers take what is tagged as the latest.
  if (rawSpec === "" || rawSpec === "*") return { name, wanted: "latest", type: "tag", text: name };
  return { name, wanted: fetchSpec ?? rawSpec, type, text: `${name}@${rawSpec}` };
}

/**
 * Reads what should be added. Throws `TrailblazeError` `UnsupportedSpec` for anything but packages of a registry, by
 * name, tag, version or range; `InvalidArguments` where one is named twice. Pure.
 */
export function parseSpecs(specs: readonly string[]): RegistrySpec[] {
  const parsed = specs.map(parseSpec);
  const names = new Set<string>();
  for (const { name } of parsed) {
    if (names.has(name)) throw failure("InvalidArguments", { reason: `"${name}" is named twice` });
    names.add(name);
  }
  return parsed;
}

/**
 * A pack that references ask for, in a version that all their ranges allow, and what package.json declares, if it does.
 * Several ranges together have white space in them. Throws `TrailblazeError`: `UnsupportedSpec`, `PackVersionMismatch`,
 * or `PackNotInstalled` where package.json declares that it comes from elsewhere. Pure.
 */
export function parseReferredPack(
  name: string,
  ranges: readonly (string | undefined)[],
  declared: unknown,
): RegistrySpec {
  if (!isPackageName(name)) throw unsupported(name, "npm allows no package of that name");
  if (declared === undefined) return readSpec(joinRanges(name, ranges));
  const isElsewhere =
    explainForeignDependency(name, declared) !== undefined || /^npm:/.test(String(declared));
  if (isElsewhere) throw failure("PackNotInstalled", { name, isDeclared: true });
  const declaredRange = validRange(String(declared)) === null ? undefined : String(declared);
  return readSpec(joinRanges(name, [...ranges, declaredRange]));
}

/**
 * Why a dependency that a package declares does not come from a registry, where fetching it could run code; `undefined`
 * where it does. Pure.
 */
export function explainForeignDependency(name: string, wanted: unknown): string | undefined {
  try {
    const { type } = parsePackageSpec(`${name}@${String(wanted)}`);
    return type === "alias" ? undefined : kindsOfOthers[type];
  } catch {
    return "it is no name of a package, or no version";
  }
}
