import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { TrailblazeError } from "../problems/index.ts";
import { readProjectConfig } from "./config-file.ts";
import { listServerEntries } from "./server-entries.ts";

/** The names that a project's config defines. */
export interface ConfigNames {
  servers: readonly string[];
  /** Those of `servers` that are subprocess servers. */
  labels: readonly string[];
  tools: readonly string[];
}

const namesIn = (list: unknown): string[] =>
  (Array.isArray(list) ? list : []).flatMap((one) =>
    isRecord(one) && typeof one.name === "string" ? one.name : [],
  );

/** Reads the names of a config's servers and tools; empty if the config cannot be read, which is reported elsewhere. */
export async function readConfigNames(port: DiscoveryPort, directory: string): Promise<ConfigNames> {
  try {
    const config = (await readProjectConfig(port, directory))?.value;
    if (!isRecord(config)) return { servers: [], labels: [], tools: [] };
    const { servers, builtIns } = config;
    const composed = isRecord(servers) ? Object.keys(servers) : [];
    const own = listServerEntries(config).flatMap(({ label }) => (typeof label === "string" ? label : []));
    return { servers: [...composed, ...own], labels: own, tools: namesIn(builtIns) };
  } catch (error) {
    if (error instanceof TrailblazeError) return { servers: [], labels: [], tools: [] };
    throw error;
  }
}

/** The kind of item that a config defines with this name. */
export function findInConfig({ servers, tools }: ConfigNames, name: string): "server" | "tool" | undefined {
  return servers.includes(name) ? "server" : tools.includes(name) ? "tool" : undefined;
}
