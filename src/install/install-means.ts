import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ancestorsOf } from "../discovery/project.ts";
import type { ChangeStep } from "../files/config-files.ts";
import { findHome as findOwnHome } from "../files/make-folders.ts";
import { findStateDirectory } from "../processes/log-folder.ts";
import { findHome, type Surroundings } from "./clients/locations.ts";
import type { ResolveServer } from "./install-request.ts";

/** What installing needs of this machine. */
export interface InstallMeans {
  surroundings: Surroundings;
  resolveServer: ResolveServer;
  /** Absolute path of the running Node. */
  node: string;
  /** Absolute path of the command's script, as an entry for a project names it. */
  findScript(project: string): string;
  /** Whether code in the project would get the package `trailblaze`. */
  hasOwnCopy(project: string): boolean;
  /** Folder of the ledger and of backups. */
  stateFolder: string;
  waitMs?: number;
  graceMs?: number;
  staleMs?: number;
  /** How long another program may keep changing a file that is to be edited. */
  contendedMs?: number;
  onWait?: ((what: string) => void) | undefined;
  /** For tests, which end the process there. */
  onStep?: (step: ChangeStep, file: string) => void;
}

/** The folder of this very package, whichever bundle this module has become part of. */
function findOwnPackage(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "trailblaze")
      return folder;
    if (folder === dirname(folder)) return folder;
  }
}

const script = "dist/cli/cli.cjs";

/** The command's script: by the project's link to it, if it has one, since stores of packages have a version in their paths. */
function findScript(project: string): string {
  const own = join(findOwnPackage(), script);
  const linked = join(project, "node_modules/trailblaze", script);
  try {
    return realpathSync(linked) === realpathSync(own) ? linked : own;
  } catch {
    return own;
  }
}

function hasOwnCopy(project: string): boolean {
  const copies = [...ancestorsOf(project)].map((folder) =>
    join(folder, "node_modules/trailblaze/package.json"),
  );
  return copies.some((file) => existsSync(file));
}

/** Where our own notes lie, if nowhere else: nobody's, so that naming a file works without a home. */
const noPlace = "/nonexistent";

/** The means of installing on this machine. */
export function createInstallMeans(): InstallMeans {
  const { platform, env, execPath } = process;
  const home = findHome(platform, env);
  return {
    surroundings: { platform, environment: env, home },
    async resolveServer(server, options) {
      const module = await import("./resolve-server.ts");
      return module.resolveServer(server, options);
    },
    node: execPath,
    findScript,
    hasOwnCopy,
    stateFolder: join(findStateDirectory(platform, env, home ?? findOwnHome()) ?? noPlace, "trailblaze"),
  };
}
