import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { findReservedCommand, ownersOf } from "../../qualified-names/reserved-commands.ts";

/** A file in node_modules/.bin for a reserved command. */
export interface LinkedCommand {
  /** Absolute path. */
  file: string;
  command: string;
  /** Real path of the program that it starts; `undefined` if there is none. */
  target: string | undefined;
  /** Whether the program belongs to an owner of the command. */
  isOwned: boolean;
}

/** Limit on the part of a script that is read. Scripts that replace links are much shorter. */
const maximumScriptBytes = 64 << 10;

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

function readStart(file: string): string {
  const buffer = Buffer.alloc(maximumScriptBytes);
  const descriptor = openSync(file, "r");
  try {
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Matches the program in scripts that npm, pnpm and Yarn create instead of links, for sh, cmd and PowerShell: the last
 * quoted word before the arguments.
 */
const startedProgram = /"(?:\$basedir[/\\]|%~?dp0%?[/\\]?)?([^"$%]+)"\s+(?:"\$@"|%\*|\$args)/g;

/** The programs that such a script starts; empty for other scripts. */
function readScriptTargets(file: string): string[] {
  const folder = dirname(file);
  const paths = [...readStart(file).matchAll(startedProgram)].map(([, path = ""]) =>
    path.replaceAll("\\", "/"),
  );
  return [...new Set(paths.map((path) => resolve(folder, path)))];
}

function findTargets(file: string): string[] {
  try {
    const stats = lstatSync(file);
    const real = realPath(file);
    if (stats.isSymbolicLink()) return real === undefined ? [] : [real];
    if (!stats.isFile() || real === undefined) return [];
    const programs = readScriptTargets(file);
    // Other files are programs themselves.
    return programs.length === 0 ? [real] : programs.map((path) => realPath(path) ?? path);
  } catch {
    return [];
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Whether a package in this node_modules has another name in the registry, according to npm's or Yarn's metadata. pnpm's
 * paths contain the real name.
 */
function isAlias(modules: string, name: string): boolean {
  const yarnLock = readText(join(modules, "../yarn.lock")) ?? "";
  const inYarnLock = yarnLock.matchAll(/^"?([^\s"]+)@npm:(@?[a-z][^@\s"]*)@/gim);
  if ([...inYarnLock].some(([, alias, real]) => alias === name && real !== name)) return true;
  try {
    const { packages } = JSON.parse(readText(join(modules, ".package-lock.json")) ?? "{}");
    const entry = packages?.[`node_modules/${name}`];
    return typeof entry?.name === "string" && entry.name !== name;
  } catch {
    return false;
  }
}

/** The location of the package with this name; `undefined` if a different package is installed under the name. */
function findOwner(modules: string, name: string): string | undefined {
  const location = realPath(join(modules, name));
  if (location === undefined) return undefined;
  const [, installedAs] = /^.*[\\/]node_modules[\\/](.+)$/.exec(location) ?? [];
  if (installedAs !== undefined && installedAs.replaceAll("\\", "/") !== name) return undefined;
  try {
    const manifest = JSON.parse(readText(join(location, "package.json")) ?? "{}");
    return manifest.name === name && !isAlias(modules, name) ? location : undefined;
  } catch {
    return undefined;
  }
}

/** The node_modules folders that may contain the targets of a .bin folder: its own, and those of parent folders. */
function* modulesAround(binFolder: string): Generator<string> {
  const own = dirname(binFolder);
  yield own;
  for (let folder = dirname(dirname(own)); ; folder = dirname(folder)) {
    yield join(folder, "node_modules");
    if (folder === dirname(folder)) return;
  }
}

/** Whether a program belongs to an owner of the command. */
function isOwnedTarget(binFolder: string, command: string, target: string): boolean {
  for (const modules of modulesAround(binFolder)) {
    for (const name of ownersOf(command)) {
      const location = findOwner(modules, name);
      if (location === undefined || !target.startsWith(`${location}${sep}`)) continue;
      if (!target.slice(location.length).includes(`${sep}node_modules${sep}`)) return true;
    }
  }
  return false;
}

/**
 * Finds the programs of the reserved commands in a node_modules/.bin folder, through links and the scripts that replace
 * them.
 */
export function readLinkedCommands(binFolder: string): LinkedCommand[] {
  let names: string[];
  try {
    names = readdirSync(binFolder).sort();
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const command = findReservedCommand(name);
    if (command === undefined) return [];
    const file = join(binFolder, name);
    const targets = findTargets(file);
    const isOwned =
      targets.length > 0 && targets.every((target) => isOwnedTarget(binFolder, command, target));
    const target = targets.find((one) => !isOwnedTarget(binFolder, command, one)) ?? targets[0];
    return [{ file, command, target, isOwned }];
  });
}
