import { existsSync, lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import type { PackingPort, PackingRequest } from "./packing-port.ts";

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

/** The folders that a file lies in, the package's own not among them. */
function foldersOf(file: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) folders.push(folder);
  return folders;
}

/** What npm-packlist is too slow to be asked: files that a list without exceptions names, or whose folder it names. */
function findSurelyPacked({ packageRoot, manifest, files, workspace }: PackingRequest): Set<string> {
  const folderRules = new Map<string, boolean>();
  const hasNoRulesIn = (folder: string) => {
    let hasNoRules = folderRules.get(folder);
    if (hasNoRules === undefined) {
      const path = join(packageRoot, folder);
      const hasRules = [".npmignore", ".gitignore"].some((name) => existsSync(join(path, name)));
      hasNoRules = !hasRules && (folder === "." || isA("isDirectory", path));
      folderRules.set(folder, hasNoRules);
    }
    return hasNoRules;
  };
  const { files: list } = manifest;
  const entries = Array.isArray(list) ? list.map(String) : undefined;
  if (entries?.some((entry) => entry.startsWith("!"))) return new Set();
  const listed = new Set(entries?.map((entry) => entry.replace(/^(?:\.?\/)+/, "").replace(/\/+$/, "")));
  const everything = entries === undefined && workspace === undefined && hasNoRulesIn(".");
  return new Set(
    files.filter((file) => {
      const folders = foldersOf(file);
      const isListed = everything || [file, ...folders].some((path) => listed.has(path));
      return (
        isListed && isPlain(file) && folders.every(hasNoRulesIn) && isA("isFile", join(packageRoot, file))
      );
    }),
  );
}

/** What a path itself is, no link followed. */
function isA(what: "isFile" | "isDirectory", path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.[what]() ?? false;
}

/** npm's own rules for what goes into a tarball. What is plain is decided here; npm-packlist is loaded for the rest. */
export function createNpmPacking(): PackingPort {
  return {
    async findPacked(request) {
      const sure = findSurelyPacked(request);
      const files = request.files.filter((file) => !sure.has(file));
      if (files.length === 0) return sure;
      const { findPackedByRules } = await import("./npm-packlist-walk.ts");
      const packed = await findPackedByRules({ ...request, files });
      return packed && new Set([...sure, ...packed]);
    },
  };
}
