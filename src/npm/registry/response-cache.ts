import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import { findHome } from "../../files/make-folders.ts";
import type { Environment } from "../../files/npm-configuration.ts";
import { overwriteFile } from "../../files/replace-file.ts";

/** An answer of a registry, kept. */
export interface CachedResponse {
  address: string;
  etag: string | undefined;
  /** The body, which is JSON. */
  text: string;
}

export interface ResponseCache {
  read(address: string): CachedResponse | undefined;
  /** What cannot be kept is not kept: a cache is no reason to fail. */
  write(response: CachedResponse): void;
  /** Lets the oldest go where there are too many. */
  prune(): void;
}

const maximumEntries = 5000;

/** Where a user's programs keep what they can get again, by the rules of the system. */
export function findCacheDirectory(
  platform: NodeJS.Platform = process.platform,
  env: Environment = process.env,
  home: string | undefined = findHome(),
): string | undefined {
  const inHome = (...path: string[]) => (home === undefined || home === "" ? undefined : join(home, ...path));
  if (platform === "win32") return env.LOCALAPPDATA || inHome("AppData", "Local");
  if (platform === "darwin") return inHome("Library", "Caches");
  const { XDG_CACHE_HOME } = env;
  // The rules of XDG: a path that is not absolute is to be ignored.
  return XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : inHome(".cache");
}

/** A cache in a folder, for this user alone. Several processes may use it at once. */
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
        // Another process removed some meanwhile.
      }
    },
  };
}

/** The cache of registries' answers in the user's folder of caches; it keeps nothing if there is no such folder. */
export function openResponseCache(): ResponseCache {
  const folder = findCacheDirectory();
  return folder === undefined
    ? { read: () => undefined, write: () => {}, prune: () => {} }
    : createResponseCache(join(folder, "trailblaze", "registry"));
}
