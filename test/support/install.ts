import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PackageManager, runPackageManager } from "./package-managers.ts";
import { makeTemporaryFolder, type TemporaryFolder } from "./temporary-folder.ts";
import { type Tree, writeTree } from "./tree.ts";

export interface Consumer {
  /** Address of the registry to install from. */
  readonly registry: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  /** Further fields of the project's package.json. */
  readonly packageJson?: Readonly<Record<string, unknown>>;
  /** Members of a workspace: folder → package.json. Their parent folders become its patterns ("packages/*"). */
  readonly workspaces?: Readonly<Record<string, object>>;
  /** Further files; a path may lead out of the project, to its neighbors ("../local-pack/package.json"). */
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

/** Makes a folder with a consumer project in `project`, and really installs it, without lifecycle scripts. */
async function install(manager: PackageManager, consumer: Consumer): Promise<TemporaryFolder> {
  const folder = makeTemporaryFolder();
  const cwd = join(folder.path, "project");
  writeTree(cwd, projectFiles(manager, consumer));
  const home = join(folder.path, "home");
  try {
    await runPackageManager(manager, installArguments[manager], { cwd, registry: consumer.registry, home });
  } catch (error) {
    folder.remove();
    throw error;
  }
  return folder;
}

const installed = (folder: TemporaryFolder): InstalledProject => ({
  directory: join(folder.path, "project"),
  remove: folder.remove,
});

/** Makes a consumer project in a temporary folder and really installs it, without lifecycle scripts. */
export const installWith = async (manager: PackageManager, consumer: Consumer): Promise<InstalledProject> =>
  installed(await install(manager, consumer));

/** Replaces texts in the files of a folder, but for the content of a pnpm store. */
function replaceInFiles(folder: string, replacements: readonly (readonly [from: string, to: string])[]) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "pnpm-store") replaceInFiles(path, replacements);
    if (!entry.isFile()) continue;
    const text = readFileSync(path, "latin1");
    const replaced = replacements.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
    if (replaced !== text) writeFileSync(path, replaced, "latin1");
  }
}

/** What this test file has installed, by package manager and consumer. */
const templates = new Map<string, Promise<TemporaryFolder>>();

/**
 * A copy of what `installWith` makes, which is installed once for a test file, from `origin`. Another registry of the
 * consumer is one that stands before that: it is what the copy names.
 */
export async function copyInstalled(
  manager: PackageManager,
  { registry, ...consumer }: Consumer,
  origin: string,
): Promise<InstalledProject> {
  const key = JSON.stringify([manager, consumer]);
  const template = templates.get(key) ?? install(manager, { ...consumer, registry: origin });
  templates.set(key, template);
  const { path } = await template;
  const copy = makeTemporaryFolder();
  cpSync(path, copy.path, { recursive: true, verbatimSymlinks: true });
  replaceInFiles(copy.path, [
    [path, copy.path],
    [origin, registry],
  ]);
  return installed(copy);
}
