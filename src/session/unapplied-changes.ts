import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { SessionConfig } from "../config/session-config.ts";
import { isRecord } from "../data/parse-json.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { CommandSessionOptions } from "./session-options.ts";
import { findBuiltInModules } from "./watched-entries.ts";

/** Keys of the config whose values a session keeps from its start. */
const keptKeys = ["callback", "memory", "logDir"] as const;

function hashFile(path: string): string | undefined {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    // It is being replaced.
    return undefined;
  }
}

/** Changes that need a new session. Each is found once. */
export class UnappliedChanges {
  readonly #first: SessionConfig;
  /** The loaded modules of built-ins; a hash by path. */
  readonly #modules = new Map<string, string>();
  readonly #found = new Set<string>();

  constructor(config: SessionConfig) {
    this.#first = config;
    this.#noteModules(config);
  }

  #noteModules(config: SessionConfig): void {
    for (const path of findBuiltInModules(config)) {
      const hash = hashFile(path);
      if (hash !== undefined && !this.#modules.has(path)) this.#modules.set(path, hash);
    }
  }

  find(config: SessionConfig): Problem[] {
    const keys = keptKeys.filter((key) => !isDeepStrictEqual(config[key], this.#first[key]));
    const modules = findBuiltInModules(config).filter((path) => {
      const hash = hashFile(path);
      return hash !== undefined && this.#modules.has(path) && hash !== this.#modules.get(path);
    });
    this.#noteModules(config);
    return [
      ...keys.map((name) => createProblem("ChangeNotApplied", { cause: "config", name })),
      ...modules.map((name) => createProblem("ChangeNotApplied", { cause: "module", name })),
    ].filter(({ message }) => !this.#found.has(message) && this.#found.add(message));
  }
}

/** A problem if the config asks for packs' code in this process, which a session that follows its project does not do. */
export function findOverriddenIsolation(
  { text, isolation }: SessionConfig,
  { watch = false, config }: CommandSessionOptions,
): Problem[] {
  const written = text?.value ?? config;
  const isWritten = isRecord(written) && written.isolation !== undefined && written.isolation !== null;
  return watch && isWritten && isolation === "in-process" ? [createProblem("IsolationOverridden", {})] : [];
}
