import { join } from "node:path";
import { vi } from "vitest";
import { makeTree } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";

/**
 * A home of its own for the running test, with an .npmrc that holds these lines: nothing of the machine's npm
 * configuration takes part. Returns its path.
 */
export function useHome(npmrc: readonly string[], tree: Tree = {}): string {
  const home = makeTree({ ".npmrc": npmrc.map((line) => `${line}\n`).join(""), ...tree });
  for (const name of Object.keys(process.env)) {
    if (/^(npm_config_.*|https?_proxy|no_?proxy)$/i.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
  vi.stubEnv("XDG_CACHE_HOME", join(home, "cache"));
  vi.stubEnv("LOCALAPPDATA", join(home, "cache"));
  vi.stubEnv("npm_config_globalconfig", join(home, "no-global-npmrc"));
  return home;
}
