// The files of a package in an archive, as the inspection port shows those of a folder.
import { posix } from "node:path";
import { splitArchivedPath } from "./discovery-port.ts";
import { type FileRead, type InspectionPort, maximumFileBytes } from "./inspection-port.ts";
import { type ArchiveEntry, ArchiveFault, listArchive, readArchiveEntry } from "./read-archive.ts";

type PackageFiles = Pick<InspectionPort, "listFiles" | "readFile" | "describePath" | "leavesPackage">;

/** Reads packages in archives from there, and others through `folders`. Remembers the last archive's list. */
export function withArchives(folders: PackageFiles): PackageFiles {
  let last: { archive: string; entries: ReadonlyMap<string, ArchiveEntry> } | undefined;
  const listOf = (archive: string) => {
    if (last?.archive !== archive) last = { archive, entries: listArchive(archive) };
    return last.entries;
  };
  /** A path in an archive; `undefined` if it leaves the package. */
  const join = (root: string, path: string) => {
    const joined = posix.join(root, path);
    return joined === posix.normalize(root) || joined.startsWith(root) ? joined : undefined;
  };

  return {
    listFiles(packageRoot, path) {
      const archived = splitArchivedPath(packageRoot);
      if (archived === undefined) return folders.listFiles(packageRoot, path);
      const folder = join(archived.path, `${path}/`);
      try {
        if (folder === undefined) return undefined;
        const names = [...listOf(archived.archive).keys()].filter((name) => name.startsWith(folder));
        if (names.length === 0) return undefined;
        return names
          .map((name) => name.slice(folder.length))
          .filter((name) => name !== "" && !name.includes("/"));
      } catch (error) {
        if (error instanceof ArchiveFault) return undefined;
        throw error;
      }
    },
    readFile(packageRoot, path, limit = maximumFileBytes): FileRead {
      const archived = splitArchivedPath(packageRoot);
      if (archived === undefined) return folders.readFile(packageRoot, path, limit);
      const name = join(archived.path, path);
      if (name === undefined) return { state: "outside" };
      try {
        // Also refuses names that occur twice or lead out of the archive.
        if (!listOf(archived.archive).has(name)) return { state: "absent" };
        const read = readArchiveEntry(archived.archive, name, limit);
        return read.state === "read" ? { ...read, realPath: `${archived.archive}/${name}` } : read;
      } catch (error) {
        if (error instanceof ArchiveFault)
          return { state: "unusable", reason: error.message, archive: archived.archive };
        throw error;
      }
    },
    describePath(packageRoot, path) {
      const archived = splitArchivedPath(packageRoot);
      if (archived === undefined) return folders.describePath(packageRoot, path);
      const name = join(archived.path, path);
      if (name === undefined) return "outside";
      try {
        const entries = listOf(archived.archive);
        const entry = entries.get(name);
        if (entry !== undefined && !name.endsWith("/")) return entry.isFile ? "file" : "other";
        const folder = name.endsWith("/") ? name : `${name}/`;
        return [...entries.keys()].some((one) => one.startsWith(folder)) ? "folder" : "absent";
      } catch (error) {
        if (error instanceof ArchiveFault) return "absent";
        throw error;
      }
    },
    leavesPackage(packageRoot, path) {
      const archived = splitArchivedPath(packageRoot);
      if (archived === undefined) return folders.leavesPackage(packageRoot, path);
      return join(archived.path, path) === undefined;
    },
  };
}
