import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { failure, type Problem, quote, TrailblazeError } from "../problems/index.ts";
import { findBuiltInFaults, readBuiltIns } from "./built-ins.ts";
import {
  type ConfigFault,
  type ConfigText,
  configFailure,
  describeConfigFaults,
  parseConfig,
  readProjectConfig,
} from "./config-file.ts";
import { normalizeToolName } from "./config-rules.ts";
import { type CheckedConfig, pastedServer, userServer } from "./config-schema.ts";
import { isDisabled, listServerEntries, type ServerEntry } from "./server-entries.ts";
import type { Device, SessionConfig, UnusedServer, UserServer } from "./session-config.ts";
import { checkShape, formatPath } from "./shape-faults.ts";

export interface ConfigOptions {
  /** The project's folder: absolute, symbolic links followed. */
  directory: string;
  /** Path of a file, or a config as an object, in which handlers may be functions; default: the project's file. */
  config?: unknown;
  /** The base of a relative path; default: `directory`. */
  cwd?: string | undefined;
}

/** A config before it is checked. */
interface ConfigSource extends Pick<SessionConfig, "file" | "text" | "directory" | "project"> {
  value: unknown;
}

// Finding and parsing.

/** The path for problems: relative to the project if the file is inside it. */
function nameFile(directory: string, file: string): string {
  const way = relative(directory, file);
  return way.startsWith("..") || isAbsolute(way) ? file : way.split(sep).join("/");
}

async function readFile(port: InspectionPort, project: string, path: string): Promise<ConfigSource> {
  const file = nameFile(project, path);
  const fail = (reason: string, hint?: string) => failure("InvalidConfig", { reason, hint }, { file });
  if (!/\.(?:ya?ml|json)$/i.test(path))
    throw fail(`${quote(basename(path))} is not a config file name`, "Use a .yaml, .yml or .json file.");
  // Links to anywhere are allowed, because the user created them.
  const real = port.realPath(path);
  const read = real === undefined ? undefined : port.readFile(dirname(real), basename(real));
  if (read === undefined || read.state === "absent") throw fail("the file does not exist");
  if (read.state === "tooLarge") throw fail(`it has ${read.bytes} bytes, which exceeds the limit`);
  if (read.state !== "read")
    throw fail(read.state === "unusable" ? read.reason : "it was moved while it was being read");
  const text = await parseConfig(file, read.bytes);
  return { value: text.value, text, file: path, directory: dirname(path), project };
}

/** Reads and parses a session's config. Throws `TrailblazeError` `InvalidConfig` if it cannot be read. */
async function readSource(
  port: InspectionPort,
  { directory, config, cwd = directory }: ConfigOptions,
): Promise<ConfigSource> {
  if (typeof config === "string") return await readFile(port, directory, resolve(directory, cwd, config));
  if (config !== undefined && !isRecord(config)) {
    const reason = `expected a path or an object, found ${describeType(config)}`;
    throw failure("InvalidConfig", { reason });
  }
  const text = config === undefined ? await readProjectConfig(port, directory) : undefined;
  const file = text && join(directory, text.file);
  return { value: config ?? text?.value, text, file, directory, project: directory };
}

// Checking.

/** Checks the content of a config. Handlers may be functions in one that has no text. Pure. */
function check({ value, text }: Pick<ConfigSource, "value" | "text">) {
  const written = value ?? {};
  if (!isRecord(written)) {
    const fault: ConfigFault = { reason: `expected an object, found ${describeType(written)}`, path: [] };
    return { checked: undefined, faults: [fault] };
  }
  const { cleaned, checked, faults } = checkShape(written);
  return { checked, faults: [...faults, ...findBuiltInFaults(cleaned.builtIns, text === undefined)] };
}

/** The error about `packs` of a config, where `readPlainPolicy` refuses it. */
export async function explainPacks(text: ConfigText): Promise<TrailblazeError> {
  const ours = check({ value: text.value, text }).faults.filter(
    ({ path: [key = "packs"] }) => key === "packs",
  );
  const [first, ...others] = await describeConfigFaults(ours, text);
  if (first === undefined) throw new Error("The two checks of `packs` disagree.");
  return configFailure([first, ...others]);
}

/** The keys that have no effect on a remote server. */
const programKeys = ["args", "cwd", "env", "legacyContext"];

/** Finds what leaves a valid config usable: keys of servers without effect. */
function findNotes(config: unknown): ConfigFault[] {
  return listServerEntries(config).flatMap(({ path, values, isPasted }) => {
    const isRemote = typeof values.url === "string";
    return Object.keys(values).flatMap((key): ConfigFault[] => {
      const isUseless = (isRemote ? programKeys : ["headers"]).includes(key) && values[key] !== null;
      const isUnknown =
        isPasted &&
        (!Object.hasOwn(pastedServer.shape, key) || (key === "tools" && Array.isArray(values[key])));
      if ((!isUnknown && !isUseless) || key.startsWith("x-")) return [];
      const on = isRemote ? " on a remote server" : " on a server without `url`";
      const at = [...path, key];
      const reason = `\`${formatPath(at)}\` has no effect${isUseless ? on : ""}`;
      const hint = isUseless ? "Remove it." : "Remove it if no client reads this file.";
      return [{ reason, path: at, severity: "warning", hint }];
    });
  });
}

// Building.

function buildDevice(device: CheckedConfig["device"]): Device | undefined {
  if (device === undefined) return undefined;
  const { platform, widthPixels = null, heightPixels = null, driverType = null } = device;
  return { platform: platform?.toUpperCase() ?? null, widthPixels, heightPixels, driverType };
}

/** A server of a valid config: one to start, or one that sessions do not use. */
function buildServer(entry: ServerEntry, configEnvFile: string | undefined): UserServer | UnusedServer {
  const { label, path, isPasted } = entry;
  const name = String(label);
  if (isDisabled(entry)) return { name, path };
  const server = userServer.parse(entry.values);
  const { prefix, tools, toolset, enabled: _, ...values } = server;
  const choices = { prefix, toolset, ...tools };
  return { name, path, isListed: !isPasted, configEnvFile, ...values, choices };
}

/** `packs.memory` with names of packs without `@`. */
function buildMemory(memory: CheckedConfig["packs"]["memory"]): CheckedConfig["packs"]["memory"] {
  if (!isRecord(memory)) return memory;
  const entries = Object.entries(memory).map(([pack, keys]) => [pack.replace(/^@/, ""), keys]);
  return Object.fromEntries(entries);
}

const noItems = { tools: [], toolsets: [], prompts: [], resources: [], skills: [] };

function buildConfig(checked: CheckedConfig, source: ConfigSource): Omit<SessionConfig, "problems"> {
  const { $schema: _, mcpServers: __, trailblazeSubprocessToolsets: ___, ...config } = checked;
  const { value: ____, ...place } = source;
  const servers = listServerEntries(checked).map((entry) => buildServer(entry, checked.envFile));
  const options = Object.entries(config.options);
  return {
    ...config,
    ...place,
    device: buildDevice(config.device),
    memory: new Map(Object.entries(config.memory)),
    packs: { ...config.packs, memory: buildMemory(config.packs.memory) },
    options: new Map(options.map(([name, values]) => [normalizeToolName(name), values])),
    toolsets: new Map(Object.entries(config.toolsets)),
    servers: Object.entries(config.servers).map(([name, server]) => ({ ...noItems, ...server, name })),
    builtIns: readBuiltIns(config.builtIns as Record<string, unknown>[]),
    logDir: config.logDir === undefined ? undefined : resolve(source.directory, config.logDir),
    subprocessServers: servers.filter((server) => "args" in server),
    unusedServers: servers.filter((server) => !("args" in server)),
  };
}

/**
 * Reads a session's config with its defaults: the project's file, another file, or an object. Without a file, the config
 * is empty. Throws `TrailblazeError` `InvalidConfig` for the first error, with its place and the count of the others.
 */
export async function readConfig(port: InspectionPort, options: ConfigOptions): Promise<SessionConfig> {
  const source = await readSource(port, options);
  const { checked, faults } = check(source);
  const [first, ...others] = await describeConfigFaults(faults, source.text);
  if (first !== undefined) throw configFailure([first, ...others]);
  if (checked === undefined) throw new Error("The config violates its schema without a problem.");
  const problems = await describeConfigFaults(findNotes(source.value), source.text);
  return { ...buildConfig(checked, source), problems };
}

/** The device and the memory of settings that are no file, or what is wrong with them. */
export function readSettings(settings: Readonly<Record<string, unknown>>) {
  const { checked, faults } = checkShape(settings);
  const [fault] = faults;
  if (checked === undefined || fault !== undefined) return { fault: fault?.reason ?? "it cannot be read" };
  const { device, memory } = checked;
  return { settings: { device: buildDevice(device), memory: new Map(Object.entries(memory)) }, fault: "" };
}

/** Every problem of a session's config, as `InvalidConfig`; empty if the config is valid. */
export async function findConfigProblems(port: InspectionPort, options: ConfigOptions): Promise<Problem[]> {
  try {
    const source = await readSource(port, options);
    return await describeConfigFaults(check(source).faults, source.text);
  } catch (error) {
    if (error instanceof TrailblazeError) return [error.problem];
    throw error;
  }
}

/** The tools and servers that a project's config defines. Throws as `readConfig`. */
export async function listConfigItems(port: InspectionPort, directory: string) {
  const config = await readConfig(port, { directory });
  const describe = (kind: "tool" | "server", name: string, description: unknown = null) => ({
    kind,
    name,
    description: typeof description === "string" ? description : null,
  });
  return [
    ...config.builtIns.map(({ name, description }) => describe("tool", String(name), description)),
    ...[...config.servers, ...config.subprocessServers].map(({ name }) => describe("server", name)),
  ];
}
