import { existsSync, lstatSync } from "node:fs";
import { join, posix } from "node:path";
import { memoize } from "../data/memoize.ts";
import { isRecord, isText } from "../data/parse-json.ts";
import type { Workspace } from "../discovery/workspace.ts";
import { attempt } from "../files/file-errors.ts";

// Determines which files npm would publish, without running npm: `npm pack` would run the package's scripts.

interface Package {
  location: string;
  manifest: Readonly<Record<string, unknown>>;
  /** The workspace whose root's ignore files apply, and whose members are excluded. */
  workspace: Workspace | undefined;
}

/** A path that npm's own rules certainly do not exclude. */
const plainPath =
  /^(?:(?!(?:node_modules|cvs|archived-packages)\/|(?:config\.gypi|npm-debug\.log)$)[\w@-][\w@.-]*(?:\/|(?<!\.orig|-lock\.\w+|\.lockb?)$))+$/i;

/** Recognizes files that npm certainly publishes, which most are: no ignore file is on the way, and `files` names them. */
function createShortcut({ location, manifest, workspace }: Package): (file: string) => boolean {
  const entries = Array.isArray(manifest.files) ? manifest.files.map(String) : undefined;
  const listed = new Set(entries?.map((entry) => entry.replace(/^(?:\.?\/)+/, "")));
  const hasNegation = entries?.some((entry) => entry.startsWith("!")) === true;
  // A file with a slash behind its name is no folder, which is an error.
  const kindOf = (file: string) => attempt(() => lstatSync(join(location, file), { throwIfNoEntry: false }));
  const hasNoRules = (folder: string) =>
    [".npmignore", ".gitignore"].every((name) => !existsSync(join(location, folder, name)));
  const isPlainFolder: (folder: string) => boolean = memoize((folder) =>
    folder === "."
      ? entries !== undefined || (workspace === undefined && hasNoRules("."))
      : isPlainFolder(posix.dirname(folder)) && kindOf(folder)?.isDirectory() === true && hasNoRules(folder),
  );
  const isInListed = (folder: string): boolean =>
    listed.has(folder) || listed.has(`${folder}/`) || (folder !== "." && isInListed(posix.dirname(folder)));
  return (file) =>
    !hasNegation &&
    plainPath.test(file) &&
    (entries === undefined || listed.has(file) || isInListed(posix.dirname(file))) &&
    isPlainFolder(posix.dirname(file)) &&
    kindOf(file)?.isFile() === true;
}

/** The part of package.json that npm-packlist reads, normalized as by npm. Bundled dependencies are left out. */
function normalizeManifest({ files, main, browser, bin }: Package["manifest"]) {
  const programs = typeof bin === "string" ? [bin] : Object.values(isRecord(bin) ? bin : {});
  return {
    ...(Array.isArray(files) && { files: files.filter(isText) }),
    ...{ main, browser, bin: programs.filter(isText).map((file) => posix.join("/", file).slice(1)) },
  };
}

/** The files that npm would not publish; none if an ignore file or a folder cannot be read. Paths are relative, with `/`. */
export async function findUnpacked(pack: Package, files: readonly string[]): Promise<ReadonlySet<string>> {
  if (files.every(createShortcut(pack))) return new Set();
  const { default: packlist } = await import("npm-packlist");
  const { location, manifest, workspace } = pack;
  const tree = { path: location, package: normalizeManifest(manifest), isProjectRoot: true };
  const around = workspace && { prefix: workspace.root, workspaces: [...workspace.members] };
  try {
    const packed = new Set((await packlist(tree, around)).map((file) => file.replace(/^\.\//, "")));
    return new Set(files.filter((file) => !packed.has(file)));
  } catch {
    return new Set();
  }
}
