import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";

// What npm would put into the tarball of a package. npm itself never runs: its `pack` runs the package's scripts.

export interface PackingRequest {
  /** Folder of the package. */
  packageRoot: string;
  manifest: Readonly<Record<string, unknown>>;
  /** The files in question, relative to the package, with `/`. */
  files: readonly string[];
  /** The workspace that the package belongs to: its root's ignore files count, and its members are left out. */
  workspace?: { root: string; members: readonly string[] } | undefined;
}

/** A segment of a path that npm's own rules do not look at. */
const plainSegment = /^[A-Za-z0-9_@-][A-Za-z0-9_.@-]*$/;
const specialSegment = /^(?:node_modules|cvs|archived-packages|config\.gypi|npm-debug\.log)$/i;
const specialEnding = /(?:\.orig|-lock\.\w+|\.lock|\.lockb)$/i;

function isPlain(file: string): boolean {
  const segments = file.split("/");
  return segments.every(
    (segment) => plainSegment.test(segment) && !specialSegment.test(segment) && !specialEnding.test(segment),
  );
}

/** The folders that a file lies in, innermost first, the package's own not among them. */
function foldersOf(file: string): string[] {
  const folders: string[] = [];
  for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) folders.push(folder);
  return folders;
}

/** A larger ignore file is left to the slow way, which refuses it. */
const maximumIgnoreFileBytes = 1 << 16;

/**
 * Whether a line of an ignore file may exclude a path with these segments. Each segment of a pattern has to fit one of
 * the path, so that a plain one that the path has not, as in `coverage/` or `*.log`, tells that it does not.
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
  /** Segments of the paths in question, in small letters. */
  readonly #segments: readonly string[];

  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#segments = [...new Set(files.flatMap((file) => file.toLowerCase().split("/")))];
  }

  /** What a path itself is, no link followed; `undefined` where nothing is. */
  find(path: string): Dirent | undefined {
    return this.#list(posix.dirname(path)).get(posix.basename(path));
  }

  /** Whether an ignore file in a folder may exclude anything that is asked for. */
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
 * The files that npm packs for sure, since they have nothing to do with any exception: `files` names them or a folder
 * that they lie in, or there is no such list, and no ignore file on the way has anything to do with them.
 */
function findSurelyPacked({ packageRoot, manifest, files, workspace }: PackingRequest): Set<string> {
  const folders = new Folders(packageRoot, files);
  const entries = Array.isArray(manifest.files) ? manifest.files.map(String) : undefined;
  if (entries?.some((entry) => entry.startsWith("!"))) return new Set();
  // A slash at the end is for folders only.
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
 * Which of some files npm would publish; `undefined` where npm's rules cannot tell. npm-packlist, which takes its time,
 * is asked only about files that our own reading of the rules leaves open.
 */
export async function findPacked(request: PackingRequest): Promise<ReadonlySet<string> | undefined> {
  const sure = findSurelyPacked(request);
  const files = request.files.filter((file) => !sure.has(file));
  if (files.length === 0) return sure;
  const { findPackedByRules } = await import("./npm-packlist-walk.ts");
  const packed = await findPackedByRules({ ...request, files });
  return packed && new Set([...sure, ...packed]);
}
