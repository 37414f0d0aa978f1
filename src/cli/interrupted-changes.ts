import { hasJournals } from "../npm/managers/journal-folder.ts";
import type { Problem } from "../problems/index.ts";

/** Warnings of changes of the project's packages that were interrupted. Reads nothing but one folder if there are none. */
export async function findInterruptedChanges(cwd: string): Promise<Problem[]> {
  if (!hasJournals()) return [];
  const { findProject } = await import("../discovery/project.ts");
  const { createNodeDiscoveryPort } = await import("../files/node-discovery-port.ts");
  const { createProblem, TrailblazeError } = await import("../problems/index.ts");
  const { findInterrupted } = await import("../npm/managers/change-journal.ts");
  try {
    const { directory } = findProject(createNodeDiscoveryPort(), cwd);
    return findInterrupted(directory).map(({ command, packs }) =>
      createProblem("InterruptedChange", { command, packs }),
    );
  } catch (error) {
    if (error instanceof TrailblazeError) return [];
    throw error;
  }
}
