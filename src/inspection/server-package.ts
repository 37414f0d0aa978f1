import { join } from "node:path";
import { readUsableManifest } from "../discovery/manifest.ts";
import { resolveFrom } from "../discovery/package-folders.ts";
import { type InspectionPort, maximumModuleBytes } from "../files/inspection-port.ts";
import { listOf, printable, quote } from "../problems/index.ts";
import { readBins } from "../qualified-names/reserved-commands.ts";

export type PackageProgram =
  /** `file` is an absolute real path inside the package. */
  | {
      state: "found";
      file: string;
      /** Options for Node if Node runs the file; `undefined` for other programs. */
      nodeOptions: readonly string[] | undefined;
      version: unknown;
    }
  | { state: "notInstalled"; version?: undefined }
  /** `key` is the wrong key. `reason` continues after a colon. */
  | { state: "unusable"; key: "package" | "bin"; reason: string; hint?: string; version?: undefined };

const unscoped = (name: string) => name.replace(/^@[^/]*\//, "");

/** A hint for a command of a package that `key` names by mistake. Without `bin`, the package's default command is meant. */
export const suggestPackage = (name: string, bin?: string, key = "command"): string =>
  `Replace \`${key}\` with \`package: ${printable(name)}\`${bin === undefined || unscoped(name) === bin ? "" : ` and \`bin: ${printable(bin)}\``}.`;

const maximumDependencies = 1000;

/** The first of these packages with a command of this name. */
export function findCommandOwner(
  port: InspectionPort,
  from: string,
  names: Iterable<string>,
  command: string,
): string | undefined {
  for (const name of [...names].slice(0, maximumDependencies)) {
    const folder = resolveFrom(port, from, name);
    const read = readUsableManifest(port, folder);
    if (read !== undefined && readBins(name, read.value).has(command)) return name;
  }
  return undefined;
}

/** The options for Node in the first line of a script that Node runs; `undefined` for other programs. */
function readNodeOptions(port: InspectionPort, folder: string, path: string): readonly string[] | undefined {
  const read = port.readFile(folder, path, maximumModuleBytes);
  const start = read.state === "read" ? Buffer.from(read.bytes).toString("latin1", 0, 256) : "";
  const [, options] = /^#![^\r\n]*?[ \t/]node(?:\.exe)?((?:[ \t][^\r\n]*)?)(?:\r?\n|$)/.exec(start) ?? [];
  if (options === undefined && !/\.[cm]?js$/i.test(path)) return undefined;
  return (options ?? "").split(/\s+/).filter((word) => word !== "");
}

/**
 * Finds the command of an installed package, as Node would resolve the package in `from`: without `bin`, the only or the main one.
 * Reads its package.json and the command's first line; runs nothing.
 */
export function findPackageProgram(
  port: InspectionPort,
  from: string,
  { package: name, bin }: { package: string; bin?: string | undefined },
): PackageProgram {
  const wrongKey = bin === undefined ? "package" : "bin";
  const unusable = (reason: string, key: "package" | "bin" = wrongKey, hint?: string): PackageProgram => ({
    state: "unusable",
    key,
    reason,
    hint,
  });
  const folder = resolveFrom(port, from, name);
  if (folder === undefined) return { state: "notInstalled" };
  const owner = `the package ${quote(name)}`;
  const read = readUsableManifest(port, folder);
  if (read === undefined) return unusable(`the package.json of ${quote(name)} cannot be read`, "package");
  const bins = readBins(name, read.value);
  const names = [...bins.keys()];
  const [only, ...others] = names;
  if (only === undefined) return unusable(`${owner} has no command`, "package");
  const command = bin ?? (others.length === 0 ? only : unscoped(name));
  const path = bins.get(command);
  if (path === undefined) {
    const reason = bin === undefined ? "has several commands" : `has no command ${quote(bin)}`;
    const hint = `Name one in \`bin\`: ${listOf(names.slice(0, 10).map((one) => quote(one)))}.`;
    return unusable(`${owner} ${reason}`, wrongKey, hint);
  }
  const place = `${quote(path, 200)}, the command ${quote(command)} of ${owner},`;
  const kind = port.describePath(folder, path);
  if (kind === "absent") return unusable(`${place} does not exist`);
  if (kind === "outside") return unusable(`${place} is outside the package`);
  const file = kind === "file" ? port.realPath(join(folder, path)) : undefined;
  if (file === undefined) return unusable(`${place} is not a regular file`);
  const { version } = read.value;
  return { state: "found", file, nodeOptions: readNodeOptions(port, folder, path), version };
}
