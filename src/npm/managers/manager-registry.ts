import type { ChangeableProject } from "./change-packages.ts";
import { runManager } from "./package-manager.ts";

const askMs = 60_000;

/** The keys of a package manager's configuration that say where a package comes from, the most specific first. */
function keysOf({ manager: { name, isModernYarn } }: ChangeableProject, packageName: string): string[] {
  const [scope] = packageName.startsWith("@") ? packageName.split("/") : [];
  if (name === "yarn" && isModernYarn) {
    const ofScope = scope === undefined ? [] : [`npmScopes["${scope.slice(1)}"].npmRegistryServer`];
    return [...ofScope, "npmRegistryServer"];
  }
  return [...(scope === undefined ? [] : [`${scope}:registry`]), "registry"];
}

/**
 * Asks a project's package manager for the registry from which it installs a package, without credentials. Its own files
 * decide, which may differ from npm's configuration. `undefined` if it does not answer.
 */
export async function askRegistry(
  project: ChangeableProject,
  packageName: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  for (const key of keysOf(project, packageName)) {
    const run = { cwd: project.directory, args: ["config", "get", key], timeoutMs: askMs, signal };
    const { exitCode, tail } = await runManager(project.program, run);
    // An unset key is "undefined", and warnings may surround the answer.
    const answer = tail
      .split(/\r?\n/)
      .map((line) => line.trim())
      .findLast((line) => /^https?:\/\/\S+$/i.test(line) && URL.canParse(line));
    if (exitCode !== 0 || answer === undefined) continue;
    const { origin, pathname } = new URL(answer);
    return `${origin}${pathname}`;
  }
  return undefined;
}
