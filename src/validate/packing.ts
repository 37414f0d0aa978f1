import { existsSync, lstatSync } from "node:fs";
import { join, posix } from "node:path";
import { isRecord } from "../data/parse-json.ts";

// Determines which files npm would publish, without running npm: `npm pack` would run the package's scripts.

export interface PackingRequest {
  packageRoot: string;
  manifest: Readonly<Record<string, unknown>>;
  /** Relative to the package, with `/`. */
  files: readonly string[];
  /** The workspace of the package: its root's ignore files apply, and its members are excluded. */
  workspace?: { root: string; members: readonly string[] } | undefined;
}

/** A path that npm's own rules certainly do not exclude. */
const plainPath =
  /^(?:(?!(?:node_modules|cvs|archived-packages)\/|(?:config\.gypi|npm-debug\.log)$)[\w@-][\w@.-]*(?:\/|(?<!\.orig|-lock\.\w+|\.lockb?)$))+$/i;

const isText = (value: unknown): value is string => typeof value === "string";

/** Recognizes files that npm certainly publishes, which most are: no ignore file is on the way, and `files` names them. */
function createShortcut({ packageRoot, manifest, workspace }: PackingRequest): (file: string) => boolean {
  const entries = Array.isArray(manifest.files) ? manifest.files.map(String) : undefined;
  const listed = new Set(entries?.map((entry) => entry.replace(/^(?:\.?\/)+/, "")));
  const hasNegation = entries?.some((entry) => entry.startsWith("!")) === true;
  const kindOf = (file: string) => lstatSync(join(packageRoot, file), { throwIfNoEntry: false });
  const hasNoRules = (folder: string) =>
    [".npmignore", ".gitignore"].every((name) => !existsSync(join(packageRoot, folder, name)));
  const folders = new Map([[".", entries !== undefined || (workspace === undefined && hasNoRules("."))]]);
  const isPlainFolder = (folder: string): boolean => {
    let isPlain = folders.get(folder);
    isPlain ??=
      isPlainFolder(posix.dirname(folder)) && kindOf(folder)?.isDirectory() === true && hasNoRules(folder);
    folders.set(folder, isPlain);
    return isPlain;
  };
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
function normalizeManifest({ files, main, browser, bin }: PackingRequest["manifest"]) {
  const programs = typeof bin === "string" ? [bin] : Object.values(isRecord(bin) ? bin : {});
  return {
    ...(Array.isArray(files) && { files: files.filter(isText) }),
    ...{ main, browser, bin: programs.filter(isText).map((file) => posix.join("/", file).slice(1)) },
  };
}

/** The requested files that npm would publish; `undefined` if an ignore file or a folder cannot be read. */
export async function findPacked(request: PackingRequest): Promise<ReadonlySet<string> | undefined> {
  const { packageRoot, files, workspace } = request;
  if (files.every(createShortcut(request))) return new Set(files);
  const { default: packlist } = await import("npm-packlist");
  const tree = { path: packageRoot, package: normalizeManifest(request.manifest), isProjectRoot: true };
  try {
    const packed = await packlist(
      tree,
      workspace && { prefix: workspace.root, workspaces: [...workspace.members] },
    );
    const names = new Set(packed.map((file) => file.replace(/^\.\//, "")));
    return new Set(files.filter((file) => names.has(file)));
  } catch {
    return undefined;
  }
}
