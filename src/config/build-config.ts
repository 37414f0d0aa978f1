import { resolve } from "node:path";
import { readBuiltIns } from "./built-ins.ts";
import { readToolName } from "./name-faults.ts";
import { readPacksConfig } from "./packs-config.ts";
import { isDisabled, listServerEntries, type ServerEntry } from "./server-entries.ts";
import type {
  Device,
  SessionConfig,
  UnusedServer,
  UserComposedServer,
  UserServer,
} from "./session-config.ts";

/** A valid config, before defaults are applied. */
interface WrittenConfig {
  device?: { platform?: string; widthPixels?: number; heightPixels?: number; driverType?: string };
  preferHostAgent?: boolean;
  memory?: Record<string, string>;
  sensitiveMemory?: string[];
  lock?: Partial<SessionConfig["lock"]>;
  options?: Record<string, Record<string, unknown>>;
  toolsets?: Record<string, string[]>;
  servers?: Record<string, Partial<UserComposedServer>>;
  builtIns?: Record<string, unknown>[];
  nameCollisions?: SessionConfig["nameCollisions"];
  crash?: SessionConfig["crash"];
  serversStart?: SessionConfig["serversStart"];
  serversIdleMs?: number;
  isolation?: SessionConfig["isolation"];
  callback?: Partial<SessionConfig["callback"]>;
  timeouts?: Partial<SessionConfig["timeouts"]>;
  logDir?: string;
}

function buildDevice(device: WrittenConfig["device"]): Device | undefined {
  if (device === undefined) return undefined;
  const { platform, widthPixels, heightPixels, driverType } = device;
  return {
    platform: platform?.toUpperCase() ?? null,
    widthPixels: widthPixels ?? null,
    heightPixels: heightPixels ?? null,
    driverType: driverType ?? null,
  };
}

function buildServer(name: string, server: Partial<UserComposedServer>): UserComposedServer {
  return {
    name,
    tools: [...(server.tools ?? [])],
    toolsets: [...(server.toolsets ?? [])],
    prompts: [...(server.prompts ?? [])],
    resources: [...(server.resources ?? [])],
    transport: server.transport,
    protocol: server.protocol,
    version: server.version,
    instructions: server.instructions,
    mcpServerName: server.mcpServerName,
  };
}

interface WrittenChoices {
  prefix?: string;
  tools?: { allow?: string[]; deny?: string[] };
  toolset?: string;
}

/** A server of a valid config: one to start, or one that sessions do not use. */
function buildUserServer(entry: ServerEntry): UserServer | UnusedServer {
  const { path } = entry;
  const name = String(entry.label);
  if (isDisabled(entry)) return { name, path };
  const values = entry.values as Partial<UserServer> & WrittenChoices;
  const { allow, deny } = values.tools ?? {};
  return {
    name,
    path,
    command: values.command,
    package: values.package,
    bin: values.bin,
    args: [...(values.args ?? [])],
    cwd: values.cwd ?? ".",
    env: { ...values.env },
    url: values.url,
    headers: { ...values.headers },
    protocol: values.protocol ?? "auto",
    context: values.context,
    isListed: !entry.isPasted,
    legacyContext: values.legacyContext ?? true,
    start: values.start,
    idleMs: values.idleMs,
    choices: { prefix: values.prefix, allow, deny: deny ?? [], toolset: values.toolset },
  };
}

/** Builds a session's config with its defaults from a valid one. */
export function buildConfig(
  checked: Readonly<Record<string, unknown>>,
  { file, text, directory, project }: Pick<SessionConfig, "file" | "text" | "directory" | "project">,
): Omit<SessionConfig, "problems"> {
  const config = checked as WrittenConfig;
  const servers = listServerEntries(checked).map(buildUserServer);
  const { callback, timeouts } = config;
  return {
    file,
    text,
    directory,
    project,
    device: buildDevice(config.device),
    preferHostAgent: config.preferHostAgent ?? true,
    memory: new Map(Object.entries(config.memory ?? {})),
    sensitiveMemory: [...(config.sensitiveMemory ?? [])],
    packs: readPacksConfig(checked, { reportMisspelled: false }).packs,
    lock: {
      frozen: config.lock?.frozen ?? false,
      workspace: config.lock?.workspace ?? false,
      unlocked: [...(config.lock?.unlocked ?? [])],
    },
    options: new Map(
      Object.entries(config.options ?? {}).map(([name, values]) => [`${readToolName(name)}`, { ...values }]),
    ),
    toolsets: new Map(Object.entries(config.toolsets ?? {}).map(([name, list]) => [name, [...list]])),
    servers: Object.entries(config.servers ?? {}).map(([name, server]) => buildServer(name, server)),
    builtIns: readBuiltIns(config.builtIns ?? []),
    nameCollisions: config.nameCollisions,
    crash: config.crash ?? "fail",
    serversStart: config.serversStart,
    serversIdleMs: config.serversIdleMs,
    isolation: config.isolation ?? "in-process",
    callback: {
      enabled: callback?.enabled ?? true,
      timeoutMs: callback?.timeoutMs ?? 120_000,
      maxDepth: callback?.maxDepth ?? 16,
      maxBodyBytes: callback?.maxBodyBytes ?? 1 << 20,
      bodyTimeoutMs: callback?.bodyTimeoutMs ?? 10_000,
    },
    timeouts: {
      handshakeMs: timeouts?.handshakeMs ?? 60_000,
      listMs: timeouts?.listMs ?? 60_000,
      callMs: timeouts?.callMs ?? 120_000,
      inputMs: timeouts?.inputMs ?? 600_000,
    },
    logDir: config.logDir === undefined ? undefined : resolve(directory, config.logDir),
    subprocessServers: servers.filter((server) => "args" in server),
    unusedServers: servers.filter((server) => !("args" in server)),
  };
}
