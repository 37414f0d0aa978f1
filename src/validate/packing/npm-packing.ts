import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

// Determines which files npm would publish, without running npm: `npm pack` would run the package's scripts.

export interface PackingRequest {
  /** Folder of the package. */
  packageRoot: string;
  manifest: Readonly<Record<string, unknown>>;
  /** The requested files, relative to the package, with `/`. */
  files: readonly string[];
  /** The workspace of the package: its root's ignore files apply, and its members are excluded. */
  workspace?: { root: string; members: readonly string[] } | undefined;
}

/** A path segment without special treatment by npm. */
const plainSegment = /^[A-Za-z0-9_@-][A-Za-z0-9_.@-]*$/;
const specialSegment = /^(?:node_modules|cvs|archived-packages|config\.gypi|npm-debug\.log)$/i;
const specialEnding = /(?:\.orig|-lock\.\w+|\.lock|\.lockb)$/i;

function isPlain(file: string): boolean {
  const segments = file.split("/");
  return segments.every(
    (segment) => plainSegment.test(segment) && !specialSegment.test(segment) && !specialEnding.test(segment),
  );
}

/** The parent folders of a file, innermost first, without the package root. */
function foldersOf(file: string): string[] {
  const folders: string[] = [];
  for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) folders.push(folder);
  return folders;
}

/** Limit for the fast path. The slow path rejects larger ignore files. */
const maximumIgnoreFileBytes = 1 << 16;

/**
 * Whether a line of an ignore file may exclude a path with these segments. Each segment of a pattern must match one of the
 * path, so a plain segment that the path lacks, as in `coverage/` or `*.log`, rules it out.
 */
function mayExclude(line: string, segments: readonly string[]): boolean {
  const pattern = line.trim().toLowerCase();
  if (pattern === "" || pattern.startsWith("#") || pattern.startsWith("!")) return false;
  return !pattern.split("/").some((part) => {
    const [, star, plain = ""] = /^(\*?)([a-z0-9_.@-]+)$/.exec(part) ?? [];
    if (plain === "") return false;
    return !segments.some((segment) => (star === "" ? segment === plain : segment.endsWith(plain)));
  });
}

/** The folders of a package, each listed once. */
class Folders {
  readonly #root: string;
  readonly #entries = new Map<string, ReadonlyMap<string, Dirent>>();
  /** Segments of the requested paths in lowercase. */
  readonly #segments: readonly string[];

  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#segments = [...new Set(files.flatMap((file) => file.toLowerCase().split("/")))];
  }

  /** The entry at a path, without following links; `undefined` if it does not exist. */
  find(path: string): Dirent | undefined {
    return this.#list(posix.dirname(path)).get(posix.basename(path));
  }

  /** Whether an ignore file in a folder may exclude any requested file. */
  hasRules(folder: string): boolean {
    return [".npmignore", ".gitignore"].some((name) => {
      const entry = this.#list(folder).get(name);
      if (entry === undefined) return false;
      const path = join(this.#root, folder, name);
      if (!entry.isFile() || statSync(path).size > maximumIgnoreFileBytes) return true;
      const lines = readFileSync(path, "utf8").split("\n");
      return lines.some((line) => mayExclude(line, this.#segments));
    });
  }

  #list(folder: string): ReadonlyMap<string, Dirent> {
    let entries = this.#entries.get(folder);
    if (entries === undefined) {
      try {
        const listed = readdirSync(join(this.#root, folder), { withFileTypes: true });
        entries = new Map(listed.map((entry) => [entry.name, entry]));
      } catch {
        entries = new Map();
      }
      this.#entries.set(folder, entries);
    }
    return entries;
  }
}

/**
 * The files that npm certainly publishes: `files` is absent or contains them or a parent folder, and no ignore file may
 * exclude them.
 */
function findSurelyPacked({ packageRoot, manifest, files, workspace }: PackingRequest): Set<string> {
  const folders = new Folders(packageRoot, files);
  const entries = Array.isArray(manifest.files) ? manifest.files.map(String) : undefined;
  if (entries?.some((entry) => entry.startsWith("!"))) return new Set();
  // A trailing slash matches only folders.
  const listed = new Set(entries?.map((entry) => entry.replace(/^(?:\.?\/)+/, "")));
  const listedFolders = new Set([...listed].map((entry) => entry.replace(/\/+$/, "")));
  const everything = entries === undefined && workspace === undefined && !folders.hasRules(".");
  const plainFolders = new Map<string, boolean>();
  const isPlainFolder = (folder: string) => {
    const known = plainFolders.get(folder);
    if (known !== undefined) return known;
    const plain = folders.find(folder)?.isDirectory() === true && !folders.hasRules(folder);
    plainFolders.set(folder, plain);
    return plain;
  };
  return new Set(
    files.filter((file) => {
      const way = foldersOf(file);
      const isListed = everything || listed.has(file) || way.some((folder) => listedFolders.has(folder));
      return isListed && isPlain(file) && way.every(isPlainFolder) && folders.find(file)?.isFile() === true;
    }),
  );
}

/**
 * The requested files that npm would publish; `undefined` if it cannot be determined. Uses npm-packlist, which is slow,
 * only for files that the fast path cannot decide.
 */
export async function findPacked(request: PackingRequest): Promise<ReadonlySet<string> | undefined> {
  const sure = findSurelyPacked(request);
  const files = request.files.filter((file) => !sure.has(file));
  if (files.length === 0) return sure;
  const { findPackedByRules } = await import("./npm-packlist-walk.ts");
  const packed = await findPackedByRules({ ...request, files });
  return packed && new Set([...sure, ...packed]);
}
