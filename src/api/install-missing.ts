import { isAllowed, matchesPattern } from "../discovery/packs-policy.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../io/node-inspection-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/package-name.ts";
import { readConfig } from "../session/config/read-config.ts";

export interface MissingPacksOptions {
  cwd?: string;
  config?: string | Readonly<Record<string, unknown>>;
  /** Install whatever is missing; without it only what `packs.autoInstall` of the config matches. */
  install?: boolean;
  signal?: AbortSignal;
  /** Told of each command of the package manager before it runs. */
  onInstall?: (command: string) => void;
}

/** A pack that needs another, which needs another, and so on, is nobody's intention. */
const mostInstalls = 20;

/**
 * Does something that may need packs which are not installed, and installs them where that is allowed: by `install`, or
 * by the config's `packs.autoInstall`; never what `packs.deny` shuts out. Otherwise what it throws, as
 * `PackNotInstalled`, is thrown.
 */
export async function withMissingPacks<Value>(
  options: MissingPacksOptions,
  work: () => Promise<Value>,
): Promise<Value> {
  const { cwd = process.cwd(), signal, onInstall } = options;
  const tried = new Set<string>();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const missing = error instanceof TrailblazeError ? error.missingPack : undefined;
      if (missing === undefined || tried.has(missing) || tried.size >= mostInstalls) throw error;
      tried.add(missing);
      if (!(await mayInstall(missing, cwd, options))) throw error;
      const { installMissing } = await import("./add-packs.ts");
      const { problems } = await installMissing([missing], {
        cwd,
        ...(signal === undefined ? {} : { signal }),
        ...(onInstall === undefined ? {} : { onCommand: onInstall }),
      });
      const [failed] = problems.filter(
        ({ severity, code }) => severity === "error" && code !== "PackNotInstalled",
      );
      if (failed !== undefined) throw new TrailblazeError(failed);
    }
  }
}

async function mayInstall(spec: string, cwd: string, { config: given, install }: MissingPacksOptions) {
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const { packs } = await readConfig(port, { directory, config: given, cwd });
  const qualifiedName = qualifyPackageName(spec.replace(/(?!^)@.*$/, ""));
  if (!isAllowed(packs, qualifiedName, [], { isTransitive: false })) return false;
  return install === true || packs.autoInstall.some((pattern) => matchesPattern(pattern, qualifiedName));
}
