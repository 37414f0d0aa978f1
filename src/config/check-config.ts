import { isRecord } from "../data/parse-json.ts";
import type { ConfigFault } from "./config-file.ts";
import {
  findItemNameFaults,
  findMemoryFaults,
  findOptionsFaults,
  findReferenceFaults,
} from "./name-faults.ts";
import { readPacksConfig } from "./packs-config.ts";
import { findShapeFaults, formatPath } from "./shape-faults.ts";
import { findUserServerFaults } from "./user-server-faults.ts";

const lists = ["tools", "toolsets", "prompts", "resources"];

/** Finds faults in the user's composed servers that the schema does not find. */
function* findServerFaults(servers: unknown): Generator<ConfigFault> {
  yield* findItemNameFaults(servers, "servers");
  for (const [name, server] of isRecord(servers) ? Object.entries(servers) : []) {
    if (!isRecord(server)) continue;
    for (const key of lists) yield* findReferenceFaults(server[key], ["servers", name, key]);
    if (lists.some((key) => server[key] !== undefined)) continue;
    const reason = `\`${formatPath(["servers", name])}\` serves nothing`;
    yield { reason, path: ["servers", name], hint: "Add `tools`, `toolsets`, `prompts` or `resources`." };
  }
}

type Config = Readonly<Record<string, unknown>>;

/** Removes keys without a value, such as `packs:` in YAML, from an object. Returns other values unchanged. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([, entry]) => entry !== null && entry !== undefined),
  );
}

/** Removes keys without a value, and an array of `tools`, which is a key of clients. */
function cleanPasted(server: unknown): unknown {
  const cleaned = withoutNulls(server);
  if (!isRecord(cleaned) || !Array.isArray(cleaned.tools)) return cleaned;
  const { tools: _, ...others } = cleaned;
  return others;
}

/** Removes keys without a value from a config, except where users choose the keys. */
export function dropNulls(value: Config): Config {
  const config = withoutNulls(value) as Record<string, unknown>;
  for (const key of ["device", "lock", "callback", "timeouts"]) {
    if (config[key] !== undefined) config[key] = withoutNulls(config[key]);
  }
  const { trailblazeSubprocessToolsets: subprocesses } = config;
  for (const [key, clean] of [
    ["servers", withoutNulls],
    ["mcpServers", cleanPasted],
  ] as const) {
    const servers = config[key];
    if (!isRecord(servers)) continue;
    const entries = Object.entries(servers).map(([name, server]) => [name, clean(server)]);
    config[key] = Object.fromEntries(entries);
  }
  if (Array.isArray(subprocesses)) config.trailblazeSubprocessToolsets = subprocesses.map(withoutNulls);
  return config;
}

/** Loads what checks built-ins, which most configs do not have. */
async function findOwnToolFaults(builtIns: unknown, mayBeFunction: boolean): Promise<ConfigFault[]> {
  if (!Array.isArray(builtIns) || builtIns.length === 0) return [];
  const { findBuiltInFaults } = await import("./built-in-faults.ts");
  return [...findBuiltInFaults(builtIns, { mayBeFunction })];
}

/** Finds every fault in a config without nulls. Pure. */
export async function findConfigContentFaults(
  config: Config,
  { mayBeFunction }: { mayBeFunction: boolean },
): Promise<ConfigFault[]> {
  const toolsets = isRecord(config.toolsets) ? Object.entries(config.toolsets) : [];
  return [
    ...findShapeFaults(config),
    ...findMemoryFaults(config.memory),
    ...readPacksConfig(config, { reportMisspelled: false }).faults,
    ...findOptionsFaults(config.options),
    ...findItemNameFaults(config.toolsets, "toolsets"),
    ...toolsets.flatMap(([name, list]) => [...findReferenceFaults(list, ["toolsets", name])]),
    ...findServerFaults(config.servers),
    ...(await findOwnToolFaults(config.builtIns, mayBeFunction)),
    ...findUserServerFaults(config),
  ];
}
