import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { findReservedCommand, ownersOf } from "../../qualified-names/reserved-commands.ts";

/** A reserved command in a node_modules/.bin, by one of its files. */
export interface LinkedCommand {
  /** Absolute path. */
  file: string;
  command: string;
  /** Real path of the program that it starts; `undefined` where it does not lead to one. */
  target: string | undefined;
  /** Whether a package starts that may have the command. */
  isOwned: boolean;
}

/** Scripts that package managers write in place of links are far shorter. */
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
 * What the scripts that npm, pnpm and Yarn write in place of links pass on to Node or start: the last word in quotes
 * before the arguments, for sh, cmd and PowerShell.
 */
const startedProgram = /"(?:\$basedir[/\\]|%~?dp0%?[/\\]?)?([^"$%]+)"\s+(?:"\$@"|%\*|\$args)/g;

/** The programs that such a script starts; none where it is no such script. */
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
    // A program that lies there itself is its own target.
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
 * Whether npm or Yarn wrote down that a package in this node_modules has another name in the registry. pnpm's paths tell
 * that by themselves.
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

/** Where a package lies that a name in a node_modules stands for; `undefined` where it is another package. */
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

/** Folders called node_modules in which what a .bin leads to may lie: its own, and those of the folders above. */
function* modulesAround(binFolder: string): Generator<string> {
  const own = dirname(binFolder);
  yield own;
  for (let folder = dirname(dirname(own)); ; folder = dirname(folder)) {
    yield join(folder, "node_modules");
    if (folder === dirname(folder)) return;
  }
}

/** Whether a program is one of a package that may have the command. */
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
 * Which programs the reserved commands in a node_modules/.bin really start: links are followed, and the scripts that
 * stand in for links are read.
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
