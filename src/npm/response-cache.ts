import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { isRecord, parseJson } from "../data/parse-json.ts";
import { findHome } from "../files/make-folders.ts";
import type { Environment } from "./npm-configuration.ts";

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

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A part of its path is no folder.
  }
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
      const file = fileOf(response.address);
      const draft = `${file}.${randomUUID()}`;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(draft, JSON.stringify(response), { mode: 0o600 });
        renameSync(draft, file);
      } catch {
        // A full disk or a folder that cannot be written.
        removeIfThere(draft);
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

/** Keeps nothing. */
export const noCache: ResponseCache = { read: () => undefined, write: () => {}, prune: () => {} };
