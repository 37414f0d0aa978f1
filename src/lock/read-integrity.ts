import { closeSync, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { openFlags } from "../files/make-folders.ts";

interface InstalledPackage {
  /** Of its package.json, so not an alias. */
  name: string;
  version: string | null;
  /** Absolute real path. */
  location: string;
}

/** A package in a lockfile. */
interface Entry {
  /** What the lockfile finds it by: a path, a folder's name, or a package's name. */
  id: string;
  /** `undefined` if the lockfile does not record it. */
  version: string | undefined;
  integrity: string | undefined;
}

interface Format {
  /** The `id` of a package's entry, given its path from the lockfile's folder. Pure. */
  idOf(installed: InstalledPackage, path: string): string;
  /** Entries with these IDs, in the order of the file. Lines end with LF. */
  entries(text: string, ids: ReadonlySet<string>): Iterable<Entry>;
}

/** Limit on the bytes of a lockfile. */
const maximumBytes = 64 << 20;

const hash = /^sha\d+-[A-Za-z0-9+/]+={0,2}(?: sha\d+-[A-Za-z0-9+/]+={0,2})*$/;

/** A checksum in the form of Subresource Integrity. */
const toIntegrity = (text: string | undefined) =>
  text !== undefined && text.length <= 1024 && hash.test(text) ? text : undefined;

/** The offset of each line that begins with these characters. */
function* linesWith(text: string, start: string): Iterable<number> {
  for (let at = text.indexOf(`\n${start}`); at >= 0; at = text.indexOf(`\n${start}`, at + 1)) yield at + 1;
}

/** The offset of the line before the one that begins at an offset. */
const lineBefore = (text: string, at: number) => text.lastIndexOf("\n", at - 2) + 1;

/** The line that begins at an offset. */
function lineAt(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(at, end < 0 ? undefined : end);
}

/** The name in a key such as `'@acme/jira@1.2.0'` or `/@acme/jira@1.2.0` at an offset. */
function nameAt(text: string, at: number): string {
  let start = at;
  while (" '\"/".includes(text.charAt(start)) && start < text.length) start++;
  return text.slice(start, text.indexOf("@", start + 1));
}

/** Limit on the characters of an entry that are read. */
const longestEntry = 1 << 16;

/** The lines from an offset to the end of their block. */
function blockAt(text: string, at: number, end: string): string {
  const block = text.slice(at, at + longestEntry);
  const last = block.indexOf(end);
  return last < 0 ? block : block.slice(0, last);
}

const unquote = (text: string) => text.replace(/^(["'])(.*)\1$/, "$2");

/** What follows the second `@` of `@acme/jira@1.2.0`. */
const referenceOf = (spec: string) => spec.slice(spec.indexOf("@", 1) + 1);

/** Whether a reference is a version, perhaps with the versions of peers: `1.2.0(react@18.2.0)`. */
const isVersion = (reference: string) => /^\d+\.\d+\.\d+/.test(reference);

/** `@acme/jira` of `node_modules/@acme/jira`: the package's name or an alias. */
function folderName(path: string): string {
  const mark = "node_modules/";
  return path.slice(path.lastIndexOf(mark) + mark.length);
}

/** `package-lock.json`: paths are keys, in any indentation. */
const npm: Format = {
  // With `install-strategy=linked`, the lockfile has the paths of a hoisted tree: only their ends are known.
  idOf: (_, path) => (path.includes("node_modules/.store/") ? folderName(path) : path),
  *entries(text, ids) {
    const mark = "node_modules/";
    for (let at = text.indexOf(mark); at >= 0; ) {
      const start = text.lastIndexOf("\n", at) + 1;
      const end = text.indexOf("\n", at);
      if (end < 0) return;
      const quote = text.indexOf('"', start);
      const id = text.slice(quote + 1, text.indexOf('"', quote + 1));
      const known = [id, folderName(id)].filter((one) => ids.has(one));
      const [, indent] = (known.length > 0 && /^([ \t]+)"[^"]+": \{$/.exec(text.slice(start, end))) || [];
      if (indent !== undefined) {
        const block = blockAt(text, end, `\n${indent}}`);
        // Keys of the entry itself, not of what it contains: entries are at the second level.
        const start = `\\n${indent}${indent.slice(indent.length / 2)}`;
        const read = (key: string) =>
          new RegExp(`${start}"${key}": "([^"\\\\]*)",?(?:\\n|$)`).exec(block)?.[1];
        const isGit = /^git/.test(read("resolved") ?? "");
        const integrity = isGit ? undefined : read("integrity");
        for (const id of known) yield { id, version: read("version"), integrity };
      }
      at = text.indexOf(mark, end);
    }
  },
};

/** `pnpm-lock.yaml`, versions 6 (`/@acme/jira@1.2.0`) and 9. */
const pnpm: Format = {
  idOf: ({ name }) => name,
  *entries(text, ids) {
    for (const at of linesWith(text, "    resolution: {")) {
      const before = lineBefore(text, at);
      const id = nameAt(text, before);
      if (!ids.has(id)) continue;
      const line = lineAt(text, at);
      const [, key = ""] = /^ {2}(\S.*):$/.exec(lineAt(text, before)) ?? [];
      const reference = referenceOf(unquote(key).replace(/^\//, ""));
      const [, integrity] = /[{ ]integrity: ([^,}]+)[,}]/.exec(line) ?? [];
      if (isVersion(reference)) {
        yield { id, version: reference.replace(/\(.*$/, ""), integrity };
        continue;
      }
      // A tarball has a line with its version, and a folder has none.
      const [, version] = /\n {4}version: (.+)/.exec(blockAt(text, at, "\n\n")) ?? [];
      const isGit = /[{ ](?:gitHosted: true|type: git)[,}]/.test(line);
      yield { id, version: version && unquote(version), integrity: isGit ? undefined : integrity };
    }
  },
};

/** `yarn.lock` of Yarn 1: patterns of the folder's name, which may be an alias, are keys. */
const yarnClassic: Format = {
  idOf: (_, path) => folderName(path),
  *entries(text, ids) {
    for (const at of linesWith(text, "  version ")) {
      const before = lineBefore(text, at);
      // Several patterns are of one package, but an alias has another name.
      const header = lineAt(text, before);
      const patterns = header.includes(", ") ? header.split(", ") : [header];
      for (const id of new Set(patterns.map((pattern) => nameAt(pattern, 0)))) {
        if (!ids.has(id)) continue;
        const [, integrity] = /\n {2}integrity (\S.*)/.exec(blockAt(text, at, "\n\n")) ?? [];
        yield { id, version: unquote(lineAt(text, at).slice("  version ".length)), integrity };
      }
    }
  },
};

/** `yarn.lock` of Yarn 2 and later, whose checksums are of its own archives. */
const yarnModern: Format = {
  idOf: ({ name }) => name,
  *entries(text, ids) {
    const mark = "  resolution: ";
    for (const at of linesWith(text, mark)) {
      const id = nameAt(text, at + mark.length);
      if (!ids.has(id)) continue;
      const reference = referenceOf(unquote(lineAt(text, at).slice(mark.length)));
      if (reference.startsWith("workspace:")) continue;
      const [, version] = /^ {2}version: (.+)$/.exec(lineAt(text, lineBefore(text, at))) ?? [];
      const [, checksum] = /\n {2}checksum: ([\w/]{1,1024})(?:\n|$)/.exec(blockAt(text, at, "\n\n")) ?? [];
      const isArchive = /^npm:|\.(?:tgz|tar\.gz)(?:[:#?]|$)/.test(reference);
      const integrity = isArchive && checksum !== undefined ? `yarn:${checksum}` : undefined;
      yield { id, version: version && unquote(version), integrity };
    }
  },
};

/** `bun.lock`: a line for each package, `"path": ["name@version", "registry", {…}, "integrity"],`. */
const bun: Format = {
  idOf: ({ name }) => name,
  *entries(text, ids) {
    for (const at of linesWith(text, '    "')) {
      const line = lineAt(text, at);
      const start = line.indexOf('": ["') + '": ["'.length;
      const id = nameAt(line, start);
      if (!ids.has(id)) continue;
      const reference = referenceOf(line.slice(start, line.indexOf('"', start)));
      if (/^(?:workspace|link):/.test(reference)) continue;
      const [, integrity] = /, "([^"]+)"\],?$/.exec(line) ?? [];
      yield { id, version: isVersion(reference) ? reference : undefined, integrity };
    }
  },
};

/** Limit on the characters of a key of `deno.lock`, which has the versions of peers. */
const longestKey = 1024;

/** `deno.lock`: `"name@version_peer@version": { "integrity": "…"`. */
const deno: Format = {
  idOf: ({ name }) => name,
  *entries(text, ids) {
    const mark = '"integrity": "';
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + mark.length)) {
      const before = text.slice(Math.max(0, at - longestKey), at);
      const key = before.slice(before.lastIndexOf("\n", before.lastIndexOf("\n") - 1) + 1);
      const id = nameAt(key, 0);
      if (!ids.has(id) || !/^ *"[^"]+": \{\n *$/.test(key)) continue;
      const start = at + mark.length;
      const version = /^[^"_]*/.exec(key.slice(key.indexOf(id) + id.length + 1))?.[0];
      yield { id, version, integrity: text.slice(start, text.indexOf('"', start)) };
    }
  },
};

const isJson = (text: string) => /^\s*\{/.test(text) && text.trimEnd().endsWith("}");

/** Lockfiles in the order in which they are preferred, with what their package manager writes when it installs. */
const lockfiles: readonly { name: string; mark: string; formatOf(text: string): Format | undefined }[] = [
  {
    name: "npm-shrinkwrap.json",
    mark: ".package-lock.json",
    formatOf: (text) => (isJson(text) ? npm : undefined),
  },
  {
    name: "package-lock.json",
    mark: ".package-lock.json",
    formatOf: (text) => (isJson(text) ? npm : undefined),
  },
  { name: "pnpm-lock.yaml", mark: ".modules.yaml", formatOf: () => pnpm },
  {
    name: "yarn.lock",
    mark: ".yarn-integrity",
    formatOf: (text) => (/^__metadata:/m.test(text.slice(0, 4096)) ? yarnModern : yarnClassic),
  },
  { name: "bun.lock", mark: ".bun", formatOf: (text) => (isJson(text) ? bun : undefined) },
  { name: "deno.lock", mark: ".deno", formatOf: (text) => (isJson(text) ? deno : undefined) },
];

/** The bytes of a regular file as characters, with lines that end with LF; `undefined` if it is not usable. */
function readLockfile(path: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, openFlags);
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > maximumBytes) return undefined;
    // Not UTF-8: bytes are faster to search, and what matters is ASCII, or compared as bytes.
    const text = readFileSync(descriptor, "latin1").replaceAll("\r\n", "\n");
    return ["<<<<<<<", ">>>>>>>"].some((mark) => text.startsWith(mark) || text.includes(`\n${mark}`))
      ? undefined
      : text;
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The lockfile of a folder: if there are several, that of the package manager that has installed. */
function findLockfile(folder: string) {
  const present = lockfiles.filter(({ name }) => existsSync(join(folder, name)));
  return present.find(({ mark }) => existsSync(join(folder, "node_modules", mark))) ?? present[0];
}

/** The integrity by ID and version; `undefined` where entries disagree. */
function collectIntegrities(entries: Iterable<Entry>): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  /** Names of packages with an entry that may be of any version. */
  const unversioned = new Set<string>();
  for (const { id, version, integrity } of entries) {
    if (version === undefined) unversioned.add(id);
    const key = `${id}\n${version}`;
    const value = integrity?.startsWith("yarn:") ? integrity : toIntegrity(integrity);
    found.set(key, !found.has(key) || found.get(key) === value ? value : undefined);
  }
  for (const key of found.keys()) {
    if (unversioned.has(key.slice(0, key.indexOf("\n")))) found.set(key, undefined);
  }
  return found;
}

const inLatin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

/** The path from a folder with slashes; `undefined` if the package is not one that this folder's lockfile lists. */
function findPath(
  folder: string,
  { version, location }: InstalledPackage,
  format: Format,
): string | undefined {
  const path = relative(folder, location).split(sep).join("/");
  const end = `/${path}`.lastIndexOf("/node_modules/");
  if (end < 0) return undefined;
  // Only pnpm's store may be elsewhere. Its folders are named after versions.
  const isInside = !path.startsWith("../") && !isAbsolute(path);
  if (!isInside && (format !== pnpm || version === null || !path.slice(0, end).includes(version)))
    return undefined;
  return inLatin1(path);
}

function realPathOf(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

/**
 * Reads which integrity the package manager has recorded for installed packages: those of the lockfile in the first of
 * the folders that has one. Returns it by location. A package has none if it is linked, comes from Git or a folder, or
 * has another version in the lockfile, and none has if the lockfile is not usable.
 */
export function readIntegrities(
  folders: readonly string[],
  packages: readonly InstalledPackage[],
): Map<string, string> {
  const integrities = new Map<string, string>();
  const folder = folders.find((one) => findLockfile(one) !== undefined);
  const lockfile = folder === undefined ? undefined : findLockfile(folder);
  if (folder === undefined || lockfile === undefined || packages.length === 0) return integrities;
  const text = readLockfile(join(folder, lockfile.name));
  const format = text === undefined ? undefined : lockfile.formatOf(text);
  if (text === undefined || format === undefined) return integrities;

  const root = realPathOf(folder);
  const wanted = packages.flatMap((installed) => {
    const path = findPath(root, installed, format);
    return path === undefined ? [] : [{ ...installed, id: format.idOf(installed, path) }];
  });
  const found = collectIntegrities(format.entries(text, new Set(wanted.map(({ id }) => id))));
  for (const { id, version, location } of wanted) {
    const integrity = found.get(`${id}\n${version}`);
    if (version !== null && integrity !== undefined) integrities.set(location, integrity);
  }
  return integrities;
}
