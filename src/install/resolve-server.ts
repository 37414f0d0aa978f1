import { readConfig } from "../config/read-config.ts";
import { findProject } from "../discovery/project.ts";
import { inspectItemWith } from "../inspection/inspect.ts";
import { createInspectionMeans } from "../inspection/inspection-means.ts";
import { inheritedNames } from "../runtime/server-environment.ts";
import { findServer } from "../serve/compose-server.ts";
import type { ResolveServer } from "./install-request.ts";

const textOrUndefined = (value: unknown) =>
  typeof value === "string" && value.trim() !== "" ? value : undefined;
const textsOf = (value: unknown) =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];

/** Finds a server as `start` does, every reference of it checked. Runs nothing. */
export const resolveServer: ResolveServer = async (reference, { cwd }) => {
  const means = createInspectionMeans();
  const { directory } = findProject(means.port, cwd);
  const config = await readConfig(means.port, { directory, cwd });
  const target = await findServer(reference, { means, config, builtIns: config.builtIns, cwd });
  const own = config.servers.find(({ name }) => name === reference);
  const known = { project: directory, envPassthrough: [], transport: "stdio" } as const;
  if (target.type === "composed") {
    const { name, transport, origin } = target.server;
    const mcpServerName = own?.mcpServerName ?? origin?.item.definition?.mcpServerName;
    return { ...known, name, transport, mcpServerName: textOrUndefined(mcpServerName) };
  }
  // One of the config's gets the whole environment of the process that starts it.
  if (target.plan.pack === undefined) return { ...known, name: target.plan.label };
  const { definition, qualifiedName } = await inspectItemWith(means, reference, { cwd, kind: "server" });
  const envPassthrough = textsOf(definition?.envPassthrough);
  return {
    ...known,
    name: qualifiedName.slice(qualifiedName.lastIndexOf("/") + 1),
    mcpServerName: textOrUndefined(definition?.mcpServerName),
    envPassthrough,
    reachedBy: [...inheritedNames(process.platform), ...envPassthrough],
  };
};
