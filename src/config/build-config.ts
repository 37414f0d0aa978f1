import { resolve } from "node:path";
import { isRecord } from "../data/parse-json.ts";
import { readBuiltIns } from "./built-ins.ts";
import { type CheckedConfig, userServer } from "./config-schema.ts";
import { readToolName } from "./name-faults.ts";
import { isDisabled, listServerEntries, type ServerEntry } from "./server-entries.ts";
import type { Device, SessionConfig, UnusedServer, UserServer } from "./session-config.ts";

function buildDevice(device: CheckedConfig["device"]): Device | undefined {
  if (device === undefined) return undefined;
  const { platform, widthPixels, heightPixels, driverType } = device;
  return {
    platform: platform?.toUpperCase() ?? null,
    widthPixels: widthPixels ?? null,
    heightPixels: heightPixels ?? null,
    driverType: driverType ?? null,
  };
}

type Named = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A server of a valid config: one to start, or one that sessions do not use. */
function buildUserServer(entry: ServerEntry): UserServer | UnusedServer {
  const { path, isPasted } = entry;
  const name = String(entry.label);
  if (isDisabled(entry)) return { name, path };
  const {
    prefix,
    tools,
    toolset,
    cwd = ".",
    headers,
    enabled: _,
    ...values
  } = userServer.parse(entry.values);
  // zod drops a variable with the name __proto__.
  const env = { ...(entry.values.env as Readonly<Record<string, string>>) };
  const choices = { prefix, allow: tools?.allow, deny: tools?.deny ?? [], toolset };
  return { name, path, isListed: !isPasted, ...values, cwd, env, headers: { ...headers }, choices };
}

/** `packs.memory` with names of packs without `@`. */
function buildMemory(memory: CheckedConfig["packs"]["memory"]): SessionConfig["packs"]["memory"] {
  if (!isRecord(memory)) return memory;
  const entries = Object.entries(memory).map(([pack, keys]) => [pack.replace(/^@/, ""), keys]);
  // No prototype, because a pack may have the name of an inherited property.
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}

/** Builds a session's config from a valid one with its defaults, and from the same as it was written. */
export function buildConfig(
  { $schema: _, mcpServers: __, trailblazeSubprocessToolsets: ___, ...config }: CheckedConfig,
  written: Readonly<Record<string, unknown>>,
  { file, text, directory, project }: Pick<SessionConfig, "file" | "text" | "directory" | "project">,
): Omit<SessionConfig, "problems"> {
  const servers = listServerEntries(written).map(buildUserServer);
  // As written, because zod drops an option with the name __proto__.
  const options = Object.entries((written.options ?? {}) as Named);
  return {
    ...config,
    file,
    text,
    directory,
    project,
    device: buildDevice(config.device),
    memory: new Map(Object.entries(config.memory)),
    packs: { ...config.packs, memory: buildMemory(config.packs.memory) },
    options: new Map(options.map(([name, values]) => [`${readToolName(name)}`, { ...values }])),
    toolsets: new Map(Object.entries(config.toolsets)),
    servers: Object.entries(config.servers).map(([name, server]) => ({
      ...server,
      name,
      tools: server.tools ?? [],
      toolsets: server.toolsets ?? [],
      prompts: server.prompts ?? [],
      resources: server.resources ?? [],
    })),
    builtIns: readBuiltIns(config.builtIns as Record<string, unknown>[]),
    logDir: config.logDir === undefined ? undefined : resolve(directory, config.logDir),
    subprocessServers: servers.filter((server) => "args" in server),
    unusedServers: servers.filter((server) => !("args" in server)),
  };
}
