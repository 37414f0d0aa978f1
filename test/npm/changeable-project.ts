import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { inject, onTestFinished, vi } from "vitest";
import { findManagerProgram } from "../../src/npm/managers/package-manager.ts";
import { type Consumer, copyInstalled } from "../support/install.ts";
import type { PackageManager } from "../support/package-managers.ts";
import { inRepository } from "../support/repository.ts";
import { useHome } from "./user-home.ts";

/** Puts this repository's pnpm and Yarn on the PATH, and a home that has but this registry. Returns the home. */
export function useManagers(registry: string): string {
  const home = useHome([`registry=${registry}`], {
    ".yarnrc": `registry "${registry}"\ndisable-self-update-check true\n`,
    "bin/.keep": "",
  });
  symlinkSync(inRepository("node_modules/pnpm/bin/pnpm.cjs"), join(home, "bin/pnpm"));
  symlinkSync(inRepository("node_modules/yarn/bin/yarn.js"), join(home, "bin/yarn"));
  vi.stubEnv("PATH", `${join(home, "bin")}${delimiter}${process.env.PATH}`);
  for (const name of ["CONFIG", "DATA", "STATE"])
    vi.stubEnv(`XDG_${name}_HOME`, join(home, name.toLowerCase()));
  vi.stubEnv("YARN_CACHE_FOLDER", join(home, "yarn-cache"));
  vi.stubEnv("npm_config_registry", registry);
  vi.stubEnv("npm_config_userconfig", join(home, ".npmrc"));
  vi.stubEnv("npm_config_cache", join(home, "npm-cache"));
  // A registry that lies is not asked for a minute.
  vi.stubEnv("npm_config_fetch_retries", "0");
  // npm asks for its own newest version, whose document is large.
  vi.stubEnv("npm_config_update_notifier", "false");
  return home;
}

const node = `exec "${process.execPath}"`;
const quickly = `if [ "$1" = pack ]; then ${node} "${inRepository("test/npm/quick-pack.mjs")}" "$@"; fi`;
const throughNpm = `${node} "${findManagerProgram("npm")?.args[0]}" "$@"`;

/** Has what previews are made of downloaded without npm, whose place for all else a shell script may take. */
export function packQuickly(home: string, script: string = throughNpm): void {
  writeFileSync(join(home, "bin/npm"), `#!/bin/sh\n${quickly}\n${script}\n`, { mode: 0o755 });
}

/** A copy of a project that a package manager has installed; it is removed after the running test. */
export async function makeProject(manager: PackageManager, consumer: Consumer): Promise<string> {
  const { directory, remove } = await copyInstalled(manager, consumer, inject("registry"));
  onTestFinished(remove);
  // pnpm wants the store that it installed from.
  vi.stubEnv("npm_config_store_dir", join(directory, "../home/pnpm-store"));
  return directory;
}

/** A project of npm's whose previews are downloaded without it, and its home. */
export async function makeQuickProject(consumer: Omit<Consumer, "registry"> = {}) {
  const registry = inject("registry");
  const home = useManagers(registry);
  packQuickly(home);
  return { home, directory: await makeProject("npm", { registry, ...consumer }) };
}

const kept = ["package.json", "package-lock.json", "pnpm-lock.yaml", "yarn.lock", "pnpm-workspace.yaml"];

/** The bytes of the files of a project that must not change, and what is installed at its top. */
export function readState(directory: string) {
  const files = Object.fromEntries(
    kept.map((name) => {
      const path = join(directory, name);
      return [name, existsSync(path) ? readFileSync(path, "base64") : null];
    }),
  );
  const modules = join(directory, "node_modules");
  const installed = existsSync(modules)
    ? readdirSync(modules)
        .filter((name) => !name.startsWith("."))
        .flatMap((name) =>
          name.startsWith("@") ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name],
        )
        .sort()
    : [];
  return { files, entries: readdirSync(directory).sort(), installed };
}
