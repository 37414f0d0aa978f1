import { isBuiltin } from "node:module";
import valid from "semver/functions/valid.js";
import { describeType, isRecord } from "../../data/parse-json.ts";
import { hasDuplicateKeys } from "../../data/source-text.ts";
import { installedKeys } from "../../discovery/project.ts";
import { suggestPackage } from "../../inspection/server-package.ts";
import { type Path, quote } from "../../problems/index.ts";
import { findReservedCommands } from "../../qualified-names/reserved-commands.ts";
import { type Check, type Finding, findInFile, findInItem, findInManifest } from "../finding.ts";
import { findContainingPackage, findResourceFiles, type NeededFile } from "../needed-files.ts";
import type { PackUnderTest } from "../pack-under-test.ts";

/** Finds duplicate keys of package.json and the field: people may read the first one, programs use the last one. */
export const checkRepeatedKeys: Check = async function* ({ inspected, isUnderDevelopment: isSource }) {
  const { text, value } = inspected.manifest;
  if (!hasDuplicateKeys(text, value)) return;
  const { findRepeatedKeys } = await import("../../data/json-positions.ts");
  const isRelevant = (path: Path) => path[0] === "trailblaze" || path.length === 1;
  // A key may be there more than twice.
  const paths = [...findRepeatedKeys(text, isRelevant)].map(({ path }) => path);
  for (const path of new Map(paths.map((one) => [JSON.stringify(one), one])).values()) {
    const key = `key ${quote(String(path.at(-1)), 40)}`;
    const found = "duplicated; only the last one is used";
    if (path[0] === "trailblaze") {
      const args = { what: `The ${key}`, expected: "unique", found };
      yield findInManifest("MalformedExtension", args, path, { path: path.slice(1) });
    } else {
      const args = { reason: `the ${key} is ${found}`, location: inspected.pack.location, isSource };
      yield findInManifest("MalformedPackageJson", args, path);
    }
  }
};

const npmName = /^(?![._-]|node_modules$|favicon\.ico$)(?:@[a-z0-9._-]+\/(?!\.))?[a-z0-9._-]+$/;

export function explainInvalidName(name: unknown): string | undefined {
  if (typeof name !== "string") return `it is ${describeType(name)}`;
  if (isBuiltin(name)) return "it is the name of a built-in module of Node";
  if (name.length <= 214 && npmName.test(name)) return undefined;
  return 'it must have 1 to 214 characters from a-z, 0-9, ".", "_" and "-", starting with a letter or digit';
}

/** What most versions are: to load semver takes as long as twenty checks. */
const plainVersion = /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}$/;

function explainInvalidVersion(version: unknown): string | undefined {
  if (typeof version !== "string") return `it is ${describeType(version)}`;
  return plainVersion.test(version) || valid(version) !== null ? undefined : "it is not a semver version";
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
export const checkDependencies: Check = function* (pack) {
  if (!pack.isUnderDevelopment || !pack.isPublished) return;
  for (const key of installedKeys) {
    const declared = pack.inspected.manifest.value[key];
    for (const [name, spec] of isRecord(declared) ? Object.entries(declared) : []) {
      if (typeof spec === "string" && /^(?:file|link):/.test(spec) && !pack.isBundled(name))
        yield findInManifest("UnpublishableDependency", { name, spec }, [key, name]);
    }
  }
};

const keyword = "trailblaze-extension";
const lifecycleScripts = ["preinstall", "install", "postinstall"];

/**
 * Checks package.json outside the field: commands that override Trailblaze's, install scripts, and the keyword for
 * searches.
 */
export const checkPackageManifest: Check = function* ({ inspected: { pack, manifest, hasField } }) {
  for (const { path, command } of findReservedCommands(manifest.value, pack.name))
    yield findInManifest("ReservedCommand", { command }, path);
  const { scripts, keywords } = manifest.value;
  for (const script of lifecycleScripts) {
    if (isRecord(scripts) && Object.hasOwn(scripts, script)) {
      yield findInManifest("LifecycleScript", { script }, ["scripts", script]);
    }
  }
  if (hasField && !(Array.isArray(keywords) && keywords.includes(keyword))) {
    yield findInManifest("MissingKeyword", { keyword }, ["keywords"]);
  }
};

function describeFile({ file, item, path, importer }: NeededFile): Finding {
  const args = { file, importer, packageName: findContainingPackage(file) };
  if (path !== undefined) return findInItem(item, "FileNotPublished", args, path);
  const { kind, name } = item.declaration;
  const place = item.base.length > 0 ? { kind } : { kind, item: name };
  // An imported file is reported at the definition that needs it.
  return findInFile(importer === undefined ? file : (item.file ?? file), "FileNotPublished", args, place);
}

/** A program of a dependency that a server names by its path, which npm never publishes. */
function describeProgram(pack: PackUnderTest, { file, item, path = [] }: NeededFile): Finding {
  const key = path[0] === "script" ? "script" : "command";
  const bin = file.replace(/^.*node_modules\/\.bin\//, "");
  const isCommand = bin !== file;
  const name = isCommand ? pack.findCommandOwner(bin) : findContainingPackage(file);
  const hint =
    name === undefined
      ? `Replace \`${key}\` with \`package\` and the npm name of the dependency.`
      : suggestPackage(name, isCommand ? bin : undefined, key);
  const reason = `${quote(file, 200)} is in node_modules, which npm does not publish`;
  return findInItem(item, "InvalidServerDefinition", { reason, hint }, path);
}

const exportFiles = ["plugin.json", "mcp.json", ".claude-plugin/plugin.json", "server.json"];

/** The files in the package's folder that `trailblaze export` wrote. They start the package or name the export. */
function findExportFiles({ port, inspected: { pack } }: PackUnderTest): string[] {
  const { name, location } = pack;
  const marks = [`"--package=${name}@`, `"identifier": "${name}"`, '"trailblaze.export"'];
  return exportFiles.filter((file) => {
    const read = port.readFile(location, file);
    const text = read.state === "read" ? new TextDecoder().decode(read.bytes) : "";
    return marks.some((mark) => text.includes(mark));
  });
}

/**
 * Checks that npm would publish every file that items need: definitions, modules of handlers, programs of servers, and
 * their imports. Exports are warnings, because the pack does not need them.
 */
export const checkPublishedFiles: Check = async function* (pack) {
  const { reached } = await pack.followed();
  const needed = [...reached.values(), ...findResourceFiles(pack.inspected.items)].filter(
    ({ file }) => !/^(?:\.\.)?(?:\/|$)/.test(file) && !pack.isInBundled(file),
  );
  const left = await pack.findLeftOut(needed.map(({ file }) => file));
  const isProgram = ({ file, item, path }: NeededFile) =>
    item.shape === "subprocessServer" && path !== undefined && findContainingPackage(file) !== undefined;
  for (const one of needed)
    if (left.has(one.file) && pack.files.kindOf(one.file) === "file")
      yield isProgram(one) ? describeProgram(pack, one) : describeFile(one);
  for (const file of await pack.findLeftOut(findExportFiles(pack)))
    yield findInFile(file, "FileNotPublished", { file, isExport: true });
};
