import type { ProjectManager } from "../../discovery/project-manager.ts";

export interface ManagerTask {
  kind: "add" | "remove" | "install";
  /** Specs or names. */
  packages: readonly string[];
  /** Whether the project is the root of a workspace, where some ask for an option. */
  isWorkspaceRoot: boolean;
}

/** The arguments that make a package manager do a task, lifecycle scripts off. Pure. */
export function managerArguments(
  { name, isModernYarn }: ProjectManager,
  { kind, packages, isWorkspaceRoot }: ManagerTask,
): string[] {
  switch (name) {
    case "npm": {
      const verb = { add: "install", remove: "uninstall", install: "install" }[kind];
      return [verb, "--ignore-scripts", "--save", "--no-audit", "--no-fund", "--no-progress", ...packages];
    }
    case "pnpm": {
      const root = isWorkspaceRoot && kind !== "install" ? ["--workspace-root"] : [];
      const frozen = kind === "install" ? ["--no-frozen-lockfile"] : [];
      return [
        kind,
        "--config.ignore-scripts=true",
        "--reporter=append-only",
        ...root,
        ...frozen,
        ...packages,
      ];
    }
    case "yarn": {
      if (isModernYarn) return [kind, ...(kind === "remove" ? [] : ["--mode=skip-build"]), ...packages];
      const root = isWorkspaceRoot && kind !== "install" ? ["--ignore-workspace-root-check"] : [];
      const pure = kind === "install" ? ["--pure-lockfile"] : [];
      return [kind, "--ignore-scripts", "--non-interactive", "--no-progress", ...root, ...pure, ...packages];
    }
  }
}
