import { dirname, join } from "node:path";
import { type PackageManager, runPackageManager } from "./package-managers.ts";
import { makeTemporaryFolder } from "./temporary-folder.ts";
import { type Tree, writeTree } from "./tree.ts";

export interface Consumer {
  /** Address of the registry to install from. */
  readonly registry: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Further fields of the project's package.json. */
  readonly packageJson?: Readonly<Record<string, unknown>>;
  /** Members of a workspace: folder → package.json. Their parent folders become its patterns ("packages/*"). */
  readonly workspaces?: Readonly<Record<string, object>>;
  /** Further files; a path may lead out of the project, to its neighbours ("../local-pack/package.json"). */
  readonly files?: Tree;
}

export interface InstalledProject {
  /** Real path of the project's folder. */
  readonly directory: string;
  readonly remove: () => void;
}

const installArguments: Record<PackageManager, readonly string[]> = {
  npm: ["install"],
  pnpm: ["install", "--no-frozen-lockfile"],
  yarn: ["install", "--non-interactive", "--ignore-scripts", "--no-progress"],
};

/** What declares a workspace, in the way of each package manager. */
function declareWorkspace(manager: PackageManager, folders: readonly string[]) {
  if (folders.length === 0) return { fields: {}, files: {} };
  const patterns = [...new Set(folders.map((folder) => `${dirname(folder)}/*`))];
  return manager === "pnpm"
    ? { fields: {}, files: { "pnpm-workspace.yaml": { packages: patterns } } }
    : { fields: { workspaces: patterns }, files: {} };
}

function projectFiles(manager: PackageManager, consumer: Consumer): Tree {
  const { dependencies = {}, packageJson = {}, workspaces = {}, files = {} } = consumer;
  const workspace = declareWorkspace(manager, Object.keys(workspaces));
  const members = Object.entries(workspaces).map(([folder, member]) => [`${folder}/package.json`, member]);
  return {
    "package.json": {
      name: "consumer",
      version: "1.0.0",
      private: true,
      dependencies,
      ...workspace.fields,
      ...packageJson,
    },
    ...Object.fromEntries(members),
    ...workspace.files,
    ...files,
  };
}

/** Makes a consumer project in a temporary folder and really installs it, without lifecycle scripts. */
export async function installWith(manager: PackageManager, consumer: Consumer): Promise<InstalledProject> {
  const folder = makeTemporaryFolder();
  const directory = join(folder.path, "project");
  writeTree(directory, projectFiles(manager, consumer));
  const home = join(folder.path, "home");
  try {
    await runPackageManager(manager, installArguments[manager], {
      cwd: directory,
      registry: consumer.registry,
      home,
    });
  } catch (error) {
    folder.remove();
    throw error;
  }
  return { directory, remove: folder.remove };
}
