import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** A tool or a subprocess server that the project's config defines. */
export interface BuiltInItem {
  kind: "tool" | "server";
  name: string;
  qualifiedName: string;
  description: string | null;
}

/**
 * Lists the tools and servers that the project's config defines. Trust level: discovery; starts nothing. Throws
 * `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
 */
export async function listBuiltIns({ cwd = process.cwd() }: { cwd?: string } = {}): Promise<BuiltInItem[]> {
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const { builtIns, servers, subprocessServers } = await readConfig(port, { directory });
  const describe = (kind: BuiltInItem["kind"], name: string, description: unknown = null): BuiltInItem => ({
    kind,
    name,
    qualifiedName: name,
    description: typeof description === "string" ? description : null,
  });
  return [
    ...builtIns.map(({ name, description }) => describe("tool", String(name), description)),
    ...servers.map(({ name }) => describe("server", name)),
    ...subprocessServers.map(({ name }) => describe("server", name)),
  ];
}
