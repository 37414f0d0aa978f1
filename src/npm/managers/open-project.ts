import { describeFault } from "../../discovery/manifest.ts";
import { findProject, type Project } from "../../discovery/project.ts";
import { findProjectManager } from "../../discovery/project-manager.ts";
import { findWorkspace } from "../../discovery/workspace.ts";
import type { DiscoveryPort } from "../../files/discovery-port.ts";
import { failure, TrailblazeError } from "../../problems/index.ts";
import type { ChangeableProject } from "./change-packages.ts";
import { findManagerProgram } from "./package-manager.ts";

export interface OpenedProject extends ChangeableProject {
  manifest: NonNullable<Project["manifest"]>;
}

/**
 * The project of a folder, and the package manager that it uses. Throws `TrailblazeError`: `ProjectNotFound`,
 * `MalformedPackageJson`, `PackageJsonTooLarge`, and `InstallFailed` where there is no package manager to use.
 */
export async function openProject(port: DiscoveryPort, cwd: string, what: string): Promise<OpenedProject> {
  const project = findProject(port, cwd);
  const { directory, manifest, fault } = project;
  if (manifest === undefined) {
    if (fault === undefined) throw failure("ProjectNotFound", { directory, exists: true });
    throw new TrailblazeError(
      await describeFault(fault, undefined, { context: "operation", isSource: true }),
    );
  }
  const workspace = await findWorkspace(port, project);
  const manager = findProjectManager(port, project, workspace);
  if ("unsupported" in manager) {
    const reason = `the project uses ${manager.unsupported}, which Trailblaze cannot drive`;
    throw failure("InstallFailed", { what, reason, hint: "Use it yourself, with lifecycle scripts off." });
  }
  const program = findManagerProgram(manager.name);
  if (program === undefined) {
    const reason = `the project uses ${manager.name}, which is not installed`;
    throw failure("InstallFailed", { what, reason, hint: `npm install --global ${manager.name}` });
  }
  return { directory, workspaceRoot: workspace?.root, manifest, manager, program };
}
