import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";

/** A tool of the host itself, or a server of the user's own, as the project's config names it. */
export interface BuiltInItem {
  kind: "tool" | "server";
  name: string;
  qualifiedName: string;
  description: string | null;
}

/**
 * Lists the tools and servers that the project's config defines. Trust level: discovery; nothing is started.
 * Throws `TrailblazeError`: `ProjectNotFound`, `InvalidConfig`.
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
