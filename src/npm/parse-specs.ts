import parsePackageSpec from "npm-package-arg";
import validRange from "semver/ranges/valid.js";
import { failure } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";

export interface RegistrySpec {
  name: string;
  /** The argument for the package manager. */
  text: string;
}

/** Kinds of dependencies that no registry has, so that fetching them may run code. */
const foreignKinds: readonly string[] = ["git", "file", "directory", "remote"];

const unsupported = (spec: string, reason: string) => failure("UnsupportedSpec", { spec, reason });

/** Parses user input. Rejects anything that could be read as an option or as a second spec. */
function parseSpec(spec: string): RegistrySpec {
  if (/^-|@-/.test(spec)) throw unsupported(spec, "package managers would read part of it as an option");
  if (/^[!-~]{1,512}$/.test(spec)) return readSpec(spec);
  throw unsupported(
    spec,
    "it is empty or too long, or contains white space or characters that npm does not allow",
  );
}

function readSpec(spec: string): RegistrySpec {
  let parsed: parsePackageSpec.Result;
  try {
    parsed = parsePackageSpec(spec);
  } catch {
    throw unsupported(spec, "the name or the part after the @ is not valid");
  }
  const { type, registry, name, rawSpec } = parsed;
  if (type !== "tag" && type !== "version" && type !== "range") {
    const isQualified = /^[^@:/]+\/[^@:/]+(@|$)/.test(spec) && isPackageName(`@${spec.replace(/@.*/, "")}`);
    const suggestion = isQualified ? ` (did you mean "@${spec}"?)` : "";
    throw unsupported(spec, `it is not a package of a registry${suggestion}`);
  }
  if (!registry || !name || !isPackageName(name)) throw unsupported(spec, "npm does not allow this name");
  // Without a version, or with `*`, package managers use the version tagged as latest.
  return { name, text: rawSpec === "" || rawSpec === "*" ? name : `${name}@${rawSpec}` };
}

/**
 * Parses the specs of packs to add. Throws `TrailblazeError` `UnsupportedSpec` for anything but packages of a registry, by
 * name, tag, version or range, and `InvalidArguments` for duplicates. Pure.
 */
export function parseSpecs(specs: readonly string[]): RegistrySpec[] {
  const parsed = specs.map(parseSpec);
  const names = new Set<string>();
  for (const { name } of parsed) {
    if (names.has(name)) throw failure("InvalidArguments", { reason: `The pack "${name}" is listed twice` });
    names.add(name);
  }
  return parsed;
}

/**
 * The spec for a referenced pack: in the range that package.json declares, otherwise in that of the reference. Ranges may
 * contain spaces. Throws `TrailblazeError`: `UnsupportedSpec`, or `PackNotInstalled` if package.json declares a source
 * other than a registry. Pure.
 */
export function parseReferredPack(name: string, range = "*", declared?: unknown): RegistrySpec {
  if (!isPackageName(name)) throw unsupported(name, "npm does not allow this name");
  if (declared === undefined) return readSpec(`${name}@${range}`);
  const isElsewhere =
    explainForeignDependency(name, declared) !== undefined || /^npm:/.test(String(declared));
  if (isElsewhere) throw failure("PackNotInstalled", { name, isDeclared: true });
  const isNarrow = ![null, "*"].includes(validRange(String(declared)));
  return readSpec(`${name}@${isNarrow ? String(declared) : range}`);
}

/** Why a declared dependency does not come from a registry, so that fetching it may run code. */
export function explainForeignDependency(name: string, wanted: unknown): string | undefined {
  try {
    const { type } = parsePackageSpec(`${name}@${String(wanted)}`);
    return foreignKinds.includes(type) ? "it is not a package of a registry" : undefined;
  } catch {
    return "the name or the version is not valid";
  }
}
