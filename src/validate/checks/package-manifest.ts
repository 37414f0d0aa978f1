import { isBuiltin } from "node:module";
import valid from "semver/functions/valid.js";
import { hasDuplicateKeys } from "../../data/duplicate-keys.ts";
import { describeType, isRecord } from "../../data/parse-json.ts";
import { dependencyKeys, installedKeys } from "../../discovery/project.ts";
import type { Manifest } from "../../discovery/types.ts";
import { findMisspelledKeys } from "../../extension-schema/index.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findReservedCommands } from "../../qualified-names/reserved-commands.ts";
import { type Check, findInItem, findInManifest } from "../finding.ts";
import { isBundled } from "../needed-files.ts";

/** Limit on the reported keys of one definition. */
const maximumReported = 100;

/** Finds misspelled keys of definitions, whose values would be silently ignored. */
export const checkDefinitionKeys: Check = function* ({ inspected }) {
  for (const item of inspected.items) {
    const { shape, definition } = item;
    if (shape === undefined || definition === null) continue;
    let reported = 0;
    for (const { key, suggestion, path } of findMisspelledKeys(shape, definition)) {
      if (++reported > maximumReported) break;
      yield findInItem(item, "UnknownDefinitionKey", { key, suggestion }, path);
    }
  }
};

/** Keys of package.json that are relevant for a pack. */
const manifestKeys = [
  "trailblaze",
  ...["name", "version", "description", "type", "private", "engines", "keywords", "scripts", "files"],
  ...dependencyKeys,
];

async function findRepeatedPaths({ text, value }: Manifest): Promise<Path[]> {
  if (!hasDuplicateKeys(text, value)) return [];
  const { findRepeatedKeys } = await import("../../data/json-positions.ts");
  const isRelevant = (path: Path) =>
    path.length === 1 ? manifestKeys.includes(String(path[0])) : path[0] === "trailblaze";
  const paths = findRepeatedKeys(text, isRelevant).map(({ path }) => path);
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
}

/** Finds duplicate keys of package.json and the field: people may read the first one, programs use the last one. */
export const checkRepeatedKeys: Check = async function* ({ inspected, isUnderDevelopment: isSource }) {
  const { location } = inspected.pack;
  for (const path of await findRepeatedPaths(inspected.manifest)) {
    const key = quote(String(path.at(-1)), 40);
    if (path[0] === "trailblaze") {
      const args = {
        what: `The key ${key}`,
        expected: "unique",
        found: "duplicated; only the last one is used",
      };
      yield findInManifest("MalformedExtension", args, path, { path: path.slice(1) });
    } else {
      const reason = `the key ${key} is duplicated; only the last one is used`;
      yield findInManifest("MalformedPackageJson", { reason, location, isSource }, path);
    }
  }
};

/** Explains why npm refuses a new package with this name; `undefined` if it accepts the name. */
function explainInvalidName(name: unknown): string | undefined {
  if (typeof name !== "string") return `it is ${describeType(name)}`;
  if (name === "") return "it is empty";
  if (name.length > 214) return "it has more than 214 characters";
  if (name !== name.trim()) return "it starts or ends with a space";
  if (name !== name.toLowerCase()) return "it has capital letters";
  if (/^[._-]/.test(name)) return 'it starts with ".", "_" or "-"';
  if (/^@[^/]*\/\./.test(name)) return 'it has a "." after its scope';
  if (["node_modules", "favicon.ico"].includes(name)) return "npm reserves it";
  if (isBuiltin(name)) return "it is the name of a built-in module of Node";
  return /^(?:@[a-z0-9._-]+\/)?[a-z0-9._-]+$/.test(name)
    ? undefined
    : 'it has a character other than a-z, 0-9, ".", "_" and "-"';
}

function explainInvalidVersion(version: unknown): string | undefined {
  if (typeof version !== "string") return `it is ${describeType(version)}`;
  // Most are plain, which needs no parser.
  return !/^(?:(?:0|[1-9]\d{0,8})(?:\.(?!$)|$)){3}$/.test(version) && valid(version) === null
    ? "it is not a semver version"
    : undefined;
}

/** Checks that npm accepts the name and the version. Reports private packages, which npm does not publish. */
export const checkNameAndVersion: Check = function* ({ inspected: { manifest }, isUnderDevelopment }) {
  if (!isUnderDevelopment) return;
  const isPrivate = manifest.value.private === true;
  if (isPrivate) yield findInManifest("PrivatePackage", {}, ["private"]);
  const explain = { name: explainInvalidName, version: explainInvalidVersion } as const;
  for (const key of ["name", "version"] as const) {
    const value = manifest.value[key];
    const reason = value === undefined && isPrivate ? undefined : explain[key](value);
    if (reason === undefined) continue;
    const found = typeof value === "string" ? value : undefined;
    yield findInManifest("InvalidPackageManifest", { key, value: found, reason }, [key]);
  }
};

/** Finds dependencies on paths of this machine, which the published package cannot be installed with. Skips bundled ones. */
export const checkDependencies: Check = function* ({ inspected, isUnderDevelopment, isPublished }) {
  const { value } = inspected.manifest;
  if (!isUnderDevelopment || !isPublished) return;
  for (const key of installedKeys) {
    const declared = value[key];
    for (const [name, spec] of isRecord(declared) ? Object.entries(declared) : []) {
      if (typeof spec !== "string" || isBundled(name, value) || !/^(?:file|link):/.test(spec)) continue;
      yield findInManifest("UnpublishableDependency", { name, spec }, [key, name]);
    }
  }
};

/** The keyword by which searches find packs. */
const keyword = "trailblaze-extension";
const lifecycleScripts = ["preinstall", "install", "postinstall"];

/**
 * Checks package.json outside the field: commands that override Trailblaze's, install scripts, and the keyword for
 * searches.
 */
export const checkPackageManifest: Check = function* ({ inspected: { pack, manifest } }) {
  for (const { path, command } of findReservedCommands(manifest.value, pack.name))
    yield findInManifest("ReservedCommand", { command }, path);
  const { scripts, keywords } = manifest.value;
  for (const script of lifecycleScripts) {
    if (isRecord(scripts) && Object.hasOwn(scripts, script)) {
      yield findInManifest("LifecycleScript", { script }, ["scripts", script]);
    }
  }
  if (!Array.isArray(keywords) || !keywords.includes(keyword)) {
    yield findInManifest("MissingKeyword", { keyword }, ["keywords"]);
  }
};
