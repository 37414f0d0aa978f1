import { posix } from "node:path";
import { findHandlers, isModulePath, parseHandler } from "../extension-schema/references.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Path } from "../problems/index.ts";
import { instructionsFile } from "../skills/skill-folders.ts";

export const isInPackage = (file: string) => !/^\.\.(?:\/|$)|(?:^|\/)node_modules\//.test(file);
/** Excludes TypeScript, which does not run after publishing. */
export const isJavaScript = (file: string) => /\.[cm]?js$/.test(file) && isInPackage(file);
export const isTypeScript = (file: string) => /\.[cm]?tsx?$/.test(file);

/** A file of the package that an item needs, with its path in the item's definition. */
export interface NeededFile {
  /** Relative to the package, with `/`. It need not exist. */
  file: string;
  item: InspectedItem;
  /** From the definition's top; `undefined` for the definition file itself. */
  path: Path | undefined;
  /** The module that imports it, if the definition does not name it. */
  importer?: string;
}

/** Every file that items need: definitions, modules of handlers, programs of servers. */
export function findNeededFiles(items: readonly InspectedItem[]): NeededFile[] {
  return items.flatMap((item): NeededFile[] => [
    ...(item.file === null ? [] : [{ file: item.file, item, path: undefined }]),
    ...findHandlers(item).flatMap(({ handler, path }) => {
      const place = typeof handler === "string" ? parseHandler(handler) : undefined;
      return place !== undefined && "module" in place ? { file: place.module, item, path } : [];
    }),
    ...findServerPaths(item).flatMap(({ file, path }) => (path[0] === "cwd" ? [] : { file, item, path })),
  ]);
}

/** The files of resources and skills. They are not modules, whatever their names are. */
export function findResourceFiles(items: readonly InspectedItem[]): NeededFile[] {
  return items.flatMap((item): NeededFile | NeededFile[] => {
    const { skill } = item;
    if (skill !== undefined) {
      const others = skill.files.filter(({ path }) => path !== instructionsFile);
      return others.map(({ path }) => ({ file: `${skill.folder}/${path}`, item, path: undefined }));
    }
    const file = item.shape === "resource" ? item.definition?.file : undefined;
    return typeof file === "string" ? { file: posix.normalize(file), item, path: ["file"] } : [];
  });
}

export const findContainingPackage = (file: string): string | undefined =>
  /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];

/** A file of the package that a subprocess server needs to start, or the folder that `cwd` names. */
export interface ServerPath {
  written: string;
  /** Relative to the package, normalized. It may still lead outside, and need not exist. */
  file: string;
  /** From the definition's top. */
  path: Path;
}

/** Options of `node` whose next argument is a module to load first, not the file to run. */
const preloading = /^(?:-r|--require|--import|--(?:experimental-)?loader)$/;

const scriptFile = /^[^-].*\.[cm]?[jt]s$/;

/** What makes `node` run a string, stdin or a package.json script: it runs no file then. */
const withoutScript = /^(?:-|-e|--eval|-p|-pe|--print|--run|-i|--interactive)(?:=|$)/;

/** Finds the `cwd` and the `script` of a subprocess server, a `command` that is a path, and the file that `node` runs. */
export function findServerPaths({ shape, definition }: InspectedItem): ServerPath[] {
  if (shape !== "subprocessServer" || definition === null) return [];
  const { script, command, args, cwd } = definition;
  const needed: ServerPath[] = [];
  const add = (written: string, from: string, path: Path) => {
    const isAbsolute = posix.isAbsolute(written) || /^[A-Za-z]:/.test(written);
    const file = isAbsolute ? written : posix.normalize(posix.join(from, written));
    needed.push({ written, file, path });
  };
  const folder = typeof cwd === "string" ? cwd : ".";
  if (typeof cwd === "string") add(cwd, ".", ["cwd"]);
  if (typeof script === "string") add(script, ".", ["script"]);
  if (typeof command !== "string") return needed;
  if (isModulePath(command)) add(command, folder, ["command"]);
  const isNode = /^(?:.*[/\\])?node(?:\.exe)?$/i.test(command);
  const list: unknown[] = isNode && Array.isArray(args) ? args : [];
  const index = list.findIndex((one, index) => {
    const argument = String(one);
    if (index === 0 && !argument.startsWith("-")) return true;
    return (
      withoutScript.test(argument) || (scriptFile.test(argument) && !preloading.test(String(list[index - 1])))
    );
  });
  const run = list[index];
  // `node` resolves it against its working folder, unless it is absolute or a URL. Without its ending, it may also be a folder.
  if (typeof run === "string" && scriptFile.test(run) && !/^(?:[a-z][a-z\d+.-]*:|[/\\])/i.test(run))
    add(run, folder, ["args", index]);
  return needed;
}
