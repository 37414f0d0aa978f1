import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import type { Environment } from "../../files/npm-configuration.ts";
import { overwriteFile } from "../../files/replace-file.ts";
import { findHome } from "../../files/user-folders.ts";

/** A cached response of a registry. */
export interface CachedResponse {
  address: string;
  etag: string | undefined;
  /** The body, which is JSON. */
  text: string;
}

export interface ResponseCache {
  read(address: string): CachedResponse | undefined;
  /** Never throws: write errors are ignored. */
  write(response: CachedResponse): void;
  /** Deletes the oldest responses if there are too many. */
  prune(): void;
}

const maximumEntries = 5000;

/** The user's cache folder, according to the conventions of the system. */
export function findCacheDirectory(
  platform: NodeJS.Platform = process.platform,
  env: Environment = process.env,
  home: string | undefined = findHome(),
): string | undefined {
  const inHome = (...path: string[]) => (home === undefined || home === "" ? undefined : join(home, ...path));
  if (platform === "win32") return env.LOCALAPPDATA || inHome("AppData", "Local");
  if (platform === "darwin") return inHome("Library", "Caches");
  const { XDG_CACHE_HOME } = env;
  // According to XDG, paths that are not absolute must be ignored.
  return XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : inHome(".cache");
}

/** A cache in a folder that only this user can read. Safe for concurrent processes. */
export function createResponseCache(folder: string): ResponseCache {
  const fileOf = (address: string) =>
    join(folder, `${createHash("sha256").update(address).digest("hex")}.json`);
  return {
    read(address) {
      try {
        const { value } = parseJson(readFileSync(fileOf(address)));
        if (!isRecord(value) || value.address !== address || typeof value.text !== "string") return undefined;
        return { address, text: value.text, etag: typeof value.etag === "string" ? value.etag : undefined };
      } catch {
        return undefined;
      }
    },
    write(response) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        overwriteFile(fileOf(response.address), Buffer.from(JSON.stringify(response)), { mode: 0o600 });
      } catch {
        // A full disk or a folder that cannot be written.
      }
    },
    prune() {
      try {
        const names = readdirSync(folder);
        if (names.length <= maximumEntries) return;
        const files = names.map((name) => {
          const path = join(folder, name);
          return { path, mtimeMs: statSync(path).mtimeMs };
        });
        files.sort((a, b) => b.mtimeMs - a.mtimeMs);
        for (const { path } of files.slice(maximumEntries)) rmSync(path, { force: true });
      } catch {
        // Another process may have deleted some of the files.
      }
    },
  };
}

/** The cache of registry responses in the user's cache folder; always empty if there is no such folder. */
export function openResponseCache(): ResponseCache {
  const folder = findCacheDirectory();
  return folder === undefined
    ? { read: () => undefined, write: () => {}, prune: () => {} }
    : createResponseCache(join(folder, "trailblaze", "registry"));
}
