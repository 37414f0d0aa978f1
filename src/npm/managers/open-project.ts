import { describeFault } from "../../discovery/describe-fault.ts";
import { findProject, type Project } from "../../discovery/project.ts";
import { findProjectManager, isDriven } from "../../discovery/project-manager.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import type { ChangeableProject } from "./change-packages.ts";
import { findManagerProgram } from "./package-manager.ts";

export interface OpenedProject extends ChangeableProject {
  manifest: NonNullable<Project["manifest"]>;
}

/**
 * Finds the project of a folder and its package manager. Throws `TrailblazeError`: `ProjectNotFound`,
 * `MalformedPackageJson`, `PackageJsonTooLarge`, and `InstallFailed` if the package manager is unsupported or missing.
 */
export async function openProject(port: DiscoveryPort, cwd: string, what: string): Promise<OpenedProject> {
  const project = findProject(port, cwd);
  const { directory, manifest, fault } = project;
  if (manifest === undefined) {
    if (fault === undefined) throw failure("ProjectNotFound", { directory, exists: true });
    throw new TrailblazeError(describeFault(fault, undefined, { context: "operation", isSource: true }));
  }
  const workspace = await findWorkspace(port, project);
  const { name, isModernYarn } = findProjectManager(port, workspace);
  if (!isDriven(name)) {
    const reason = `the project uses ${name}, which Trailblaze does not support`;
    throw failure("InstallFailed", {
      what,
      reason,
      hint: "Run it directly, with lifecycle scripts disabled.",
    });
  }
  const program = findManagerProgram(name);
  if (program === undefined) {
    const reason = `the project uses ${name}, which is not installed`;
    throw failure("InstallFailed", {
      what,
      reason,
      hint: `Install it: npm install --global ${name}`,
    });
  }
  const workspaceRoot = workspace.isDeclared ? workspace.root : undefined;
  return { directory, workspaceRoot, manifest, manager: { name, isModernYarn }, program };
}
