import { isRecord } from "../data/parse-json.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { type Path, TrailblazeError } from "../problems/index.ts";
import { readProjectConfig } from "./config-file.ts";

/** A user's server as written in the config, not yet checked. */
export interface ServerEntry {
  /** Its name in messages, logs and `LABEL/TOOL`; not a string if the entry is invalid. */
  label: unknown;
  path: Path;
  values: Readonly<Record<string, unknown>>;
  /** The entry has the form of clients' configs, and its other keys are ignored. */
  isPasted: boolean;
}

/** The servers of a config: `trailblazeSubprocessToolsets` first, then `mcpServers`, each in file order. Pure. */
export function listServerEntries(config: unknown): ServerEntry[] {
  if (!isRecord(config)) return [];
  const { trailblazeSubprocessToolsets: list, mcpServers } = config;
  const listed = (Array.isArray(list) ? list : []).flatMap((values, index): ServerEntry[] => {
    const path = ["trailblazeSubprocessToolsets", index];
    return isRecord(values) ? [{ label: values.name, path, values, isPasted: false }] : [];
  });
  const pasted = Object.entries(isRecord(mcpServers) ? mcpServers : {}).flatMap(
    ([label, values]): ServerEntry[] => {
      const path = ["mcpServers", label];
      return isRecord(values) ? [{ label, path, values, isPasted: true }] : [];
    },
  );
  return [...listed, ...pasted];
}

/** Whether an entry's server is not used: `enabled: false`, or `disabled: true` in clients' configs. */
export const isDisabled = ({ values, isPasted }: ServerEntry): boolean =>
  values.enabled === false || (isPasted && values.disabled === true);

/** The names in a project's config; none if it cannot be read, which is reported elsewhere. */
export async function readConfigNames(port: DiscoveryPort, directory: string) {
  const text = await readProjectConfig(port, directory).catch((error: unknown) => {
    if (!(error instanceof TrailblazeError)) throw error;
    return undefined;
  });
  const config = isRecord(text?.value) ? text.value : {};
  const strings = (list: readonly unknown[]) => list.filter((one) => typeof one === "string");
  const labels = strings(listServerEntries(config).map(({ label }) => label));
  const composed = isRecord(config.servers) ? Object.keys(config.servers) : [];
  const builtIns: unknown[] = Array.isArray(config.builtIns) ? config.builtIns : [];
  const tools = strings(builtIns.map((one) => (isRecord(one) ? one.name : undefined)));
  const kindOf = (name: string): "server" | "tool" | undefined => {
    if (composed.includes(name) || labels.includes(name)) return "server";
    return tools.includes(name) ? "tool" : undefined;
  };
  return { labels, kindOf };
}
