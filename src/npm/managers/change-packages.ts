import { realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { findPacks } from "../../discovery/find-packs.ts";
import { declaredDependencies } from "../../discovery/project.ts";
import { findProjectManager, isDriven, lockfileNames } from "../../discovery/project-manager.ts";
import { lockFile } from "../../files/file-lock.ts";
import { discoveryPort as port } from "../../files/node-discovery-port.ts";
import { readNpmConfiguration } from "../../files/npm-configuration.ts";
import { BusyFileError, explainFileError, readBytes, replaceFile } from "../../files/write-files.ts";
import { failure, quote, TrailblazeError } from "../../problems/index.ts";
import { quoteForShell } from "../../problems/text.ts";
import { findManagerProgram, type ManagerTask, managerArguments, runManager } from "./package-manager.ts";

export interface ChangeOptions {
  cwd?: string;
  /** The timeout of waiting for another process that changes the project, in milliseconds; default: five minutes. */
  lockMs?: number;
  /** Stops the package manager and restores everything. */
  signal?: AbortSignal;
  onCommand?: (command: string) => void;
}

/**
 * Finds the project of a folder, its packs and its package manager. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`,
 * `MalformedPackageJson`, `PackageJsonTooLarge`, `UnsupportedLayout`, and `InstallFailed` if the package manager is unsupported
 * or missing.
 */
export async function openProject(cwd: string, what: string) {
  const found = await findPacks(port, { cwd });
  const { project: directory, workspace } = found;
  const { root, isDeclared } = workspace;
  const layout = found.problems.find(({ code }) => code === "UnsupportedLayout");
  const unreadable = layout ?? found.broken.get(directory);
  if (unreadable !== undefined) throw new TrailblazeError(unreadable);
  const { name, isModernYarn } = findProjectManager(port, workspace);
  const unusable = (why: string, hint: string) =>
    failure("InstallFailed", { what, reason: `the project uses ${name}, which ${why}`, hint });
  if (!isDriven(name))
    throw unusable("Trailblaze does not support", "Run it directly, with lifecycle scripts disabled.");
  const program = findManagerProgram(name);
  if (program === undefined) throw unusable("is not on the PATH", `Install it: npm install --global ${name}`);
  const isWorkspaceRoot = isDeclared && root === directory;
  const declared = declaredDependencies(workspace.project.manifest);
  return { found, directory, root, isWorkspaceRoot, declared, manager: { name, isModernYarn }, program };
}

/** A project with a package manager. `root`: of its workspace; without one, its own folder. */
type ChangeableProject = Omit<Awaited<ReturnType<typeof openProject>>, "found" | "declared">;

const managerMs = 600_000;

const writtenFiles = ["package.json", ...lockfileNames, ".yarnrc.yml"];

/** Keeps a file in memory. Returns a function that gives it back its bytes and its mode, or deletes it if it did not exist. */
function saveFile(path: string): () => void {
  const bytes = readBytes(path);
  if (bytes === undefined) return () => rmSync(path, { force: true });
  const [real, mode] = [realpathSync(path), statSync(path).mode & 0o777];
  return () => {
    if (!readBytes(real)?.equals(bytes)) replaceFile(real, bytes, mode);
  };
}

const credentialKey = /(?:^|:)(?:_authToken|_auth|_password|password|key|otp)$/;

/** The last lines of a package manager's output, without secrets of npm's configuration and credentials in addresses. */
function lastLines(tail: string, { directory, root }: ChangeableProject): string[] {
  const secrets = [directory, root].flatMap((projectDirectory) =>
    [...readNpmConfiguration({ projectDirectory, env: process.env })].flatMap(([key, value]) =>
      credentialKey.test(key) && typeof value === "string" && value.length > 3 ? [value] : [],
    ),
  );
  const withoutAddresses = tail.replace(/(\w:\/\/)[^\s/@]+@/g, "$1***@");
  return secrets
    .reduce((shown, secret) => shown.replaceAll(secret, "***"), withoutAddresses)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .slice(-20);
}

/**
 * Adds or removes packages (specs or names) with the project's package manager, with lifecycle scripts disabled. `verify` then
 * checks the result, and `complete` comes last. If one of the three fails, restores package.json and lockfiles byte for byte
 * and runs the package manager's install again. Throws `TrailblazeError`: `InstallFailed`, `ReservedCommand`.
 */
export async function changePackages(
  project: ChangeableProject,
  { kind, packages }: { kind: "add" | "remove"; packages: readonly string[] },
  options: ChangeOptions,
  { verify, complete }: { verify: () => Promise<void>; complete?: (() => Promise<void>) | undefined },
): Promise<void> {
  const { directory, root, isWorkspaceRoot, manager, program } = project;
  const { lockMs: waitMs = 300_000, signal, onCommand } = options;
  const what = `${kind} ${packages.join(", ")}`;
  const run = (task: Pick<ManagerTask, "kind" | "packages">, ending?: AbortSignal) => {
    const args = managerArguments(manager, { ...task, isWorkspaceRoot });
    onCommand?.([manager.name, ...args].map(quoteForShell).join(" "));
    return runManager(program, { cwd: directory, args, timeoutMs: managerMs, signal: ending });
  };

  const file = join(root, "package.json");
  const release = await lockFile(file, { waitMs, signal }).catch((error: unknown) => {
    // Where it cannot be locked, it cannot be changed either, and the package manager says why.
    if (!(error instanceof BusyFileError)) return () => {};
    const reason = "another process is changing the packages of this project";
    const hint = `If there is none, delete ${quote(`${file}.lock`, 400)}.`;
    throw failure("InstallFailed", { what, reason, hint });
  });
  try {
    const folders = [...new Set([directory, root])];
    let saved: (() => void)[];
    try {
      saved = folders.flatMap((folder) => writtenFiles.map((file) => saveFile(join(folder, file))));
    } catch (cause) {
      const reason = `package.json or a lockfile cannot be read (${explainFileError(cause)})`;
      throw failure("InstallFailed", { what, reason }, {}, { cause });
    }
    try {
      const { exitCode, reason: ending, tail } = await run({ kind, packages }, signal);
      if (exitCode !== 0) {
        const end = exitCode === null ? `did not finish: ${ending}` : `exited with code ${exitCode}`;
        const output = lastLines(tail, project);
        throw failure("InstallFailed", { what, reason: `${manager.name} ${end}`, output });
      }
      await verify();
      if (signal?.aborted) throw failure("InstallFailed", { what, reason: "it was interrupted" });
      await complete?.();
    } catch (cause) {
      let restored: boolean | "nothing" = "nothing";
      try {
        for (const restore of saved) restore();
        // Otherwise, Yarn 1 would skip the check of node_modules.
        rmSync(join(root, "node_modules/.yarn-integrity"), { force: true });
        const { exitCode } = await run({ kind: "install", packages: [] });
        // An install may update the lockfile.
        for (const restore of saved) restore();
        restored = exitCode === 0;
      } catch {
        // A file cannot be written.
      }
      const problem = cause instanceof TrailblazeError ? cause.problem : undefined;
      if (problem?.code === "ReservedCommand")
        throw failure("ReservedCommand", { ...problem.args, restored });
      const known = problem?.message.replace(/\.$/, "") ?? "the installed packages cannot be read";
      const args = problem?.code === "InstallFailed" ? problem.args : { what, reason: known };
      throw failure("InstallFailed", { ...args, restored }, {}, { cause });
    }
  } finally {
    release();
  }
}
