import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
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

/**
 * Finds a server as `start` does; without a reference, the session. Checks all its references. Runs nothing. Throws the same
 * `TrailblazeError` as `start`, such as `ServerNotFound` and `PackNotInstalled`.
 */
export async function resolveServer(
  reference: string | null,
  { cwd }: { cwd: string },
): Promise<ResolvedServer> {
  const port = createNodeInspectionPort();
  const { directory: project } = findProject(port, cwd);
  if (reference === null) return { name: "trailblaze", envPassthrough: [], transport: "stdio", project };
  const config = await readConfig(port, { directory: project, cwd });
  const target = await findServer(reference, { port, config, builtIns: config.builtIns, cwd });
  const { ofPack } = target;
  if (target.type === "composed") {
    const { name, transport, origin } = target.server;
    const own = config.servers.find((one) => one.name === reference);
    const mcpServerName = textOrUndefined(own?.mcpServerName ?? origin?.item.definition?.mcpServerName);
    return { project, ofPack, name, transport, mcpServerName, envPassthrough: [] };
  }
  const { definition, declaration } = target.item ?? {};
  return {
    project,
    ofPack,
    name: declaration?.name ?? target.plan.label,
    transport: "stdio",
    mcpServerName: textOrUndefined(definition?.mcpServerName),
    // A server of the config gets the whole environment of the process that starts it.
    envPassthrough: textsOf(definition?.envPassthrough),
  };
}
