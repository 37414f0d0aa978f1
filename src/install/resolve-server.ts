import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { inspectInstalledItem } from "../inspection/inspect.ts";
import { findServer } from "../serve/compose-server.ts";

/** A resolved reference to a server. */
export interface ResolvedServer {
  /** What to start if the reference names a pack: its only server, or the pack itself. */
  ofPack?: string | undefined;
  /** The short name of the item, or the key in the config. */
  name: string;
  /** The name that its author chose for clients. */
  mcpServerName?: string | undefined;
  /** Names of variables that the server takes from the environment. */
  envPassthrough: readonly string[];
  transport: "stdio" | "http";
  /** Absolute path of the project's folder. */
  project: string;
}

const textOrUndefined = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;
const textsOf = (value: unknown) =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];

/** The session of the project as a server. */
async function resolveSession(cwd: string): Promise<ResolvedServer> {
  const port = createNodeInspectionPort();
  const project = findProject(port, cwd).directory;
  return { name: "trailblaze", envPassthrough: [], transport: "stdio", project };
}

/**
 * Finds a server as `start` does; without a reference, the session. Checks all its references. Runs nothing. Throws the same
 * `TrailblazeError` as `start`, such as `ServerNotFound` and `PackNotInstalled`.
 */
export async function resolveServer(
  reference: string | null,
  { cwd }: { cwd: string },
): Promise<ResolvedServer> {
  if (reference === null) return resolveSession(cwd);
  const port = createNodeInspectionPort();
  const { directory } = findProject(port, cwd);
  const config = await readConfig(port, { directory, cwd });
  const target = await findServer(reference, { port, config, builtIns: config.builtIns, cwd });
  const own = config.servers.find(({ name }) => name === reference);
  const { ofPack } = target;
  const known = { project: directory, envPassthrough: [], transport: "stdio", ofPack } as const;
  if (target.type === "composed") {
    const { name, transport, origin } = target.server;
    const mcpServerName = own?.mcpServerName ?? origin?.item.definition?.mcpServerName;
    return { ...known, name, transport, mcpServerName: textOrUndefined(mcpServerName) };
  }
  // A server of the config gets the whole environment of the process that starts it.
  if (target.plan.pack === undefined) return { ...known, name: target.plan.label };
  const { definition, qualifiedName } = await inspectInstalledItem(ofPack ?? reference, {
    cwd,
    kind: "server",
  });
  return {
    ...known,
    name: qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1),
    mcpServerName: textOrUndefined(definition?.mcpServerName),
    envPassthrough: textsOf(definition?.envPassthrough),
  };
}
