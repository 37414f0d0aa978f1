import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import type { Problem } from "../problems/index.ts";

/** A tool or a subprocess server that the project's config defines. */
export interface BuiltInItem {
  kind: "tool" | "server";
  name: string;
  qualifiedName: string;
  description: string | null;
}

/**
 * Lists the tools and servers that the project's config defines, with a problem for each server that the administrator's
 * policy excludes. Trust level: discovery; starts nothing. Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
 */
export async function listBuiltIns({ cwd = process.cwd() }: { cwd?: string } = {}): Promise<{
  items: BuiltInItem[];
  problems: Problem[];
}> {
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const { builtIns, servers, subprocessServers, deniedServers } = await readConfig(port, {
    directory,
    isForDiscovery: true,
  });
  const describe = (kind: BuiltInItem["kind"], name: string, description: unknown = null): BuiltInItem => ({
    kind,
    name,
    qualifiedName: name,
    description: typeof description === "string" ? description : null,
  });
  const items = [
    ...builtIns.map(({ name, description }) => describe("tool", String(name), description)),
    ...servers.map(({ name }) => describe("server", name)),
    ...[...subprocessServers, ...deniedServers].map(({ name }) => describe("server", name)),
  ];
  const problems = deniedServers.map(({ problem }): Problem => ({ ...problem, severity: "info" }));
  return { items, problems };
}
