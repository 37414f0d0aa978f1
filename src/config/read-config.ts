import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { failure, type Problem, quote, TrailblazeError } from "../problems/index.ts";
import { buildConfig } from "./build-config.ts";
import { findBuiltInFaults } from "./built-ins.ts";
import {
  type ConfigFault,
  type ConfigText,
  configFailure,
  describeConfigFaults,
  parseConfig,
  readProjectConfig,
} from "./config-file.ts";
import {
  findItemNameFaults,
  findMemoryFaults,
  findOptionsFaults,
  findReferenceFaults,
} from "./name-faults.ts";
import { findPacksFaults, isMisspelledPacks } from "./packs-config.ts";
import type { SessionConfig } from "./session-config.ts";
import { checkShape, formatPath, type ShapeCheck } from "./shape-faults.ts";
import { findUserServerFaults, findUserServerNotes } from "./user-server-faults.ts";

export interface ConfigOptions {
  /** The project's folder: absolute, symbolic links followed. */
  directory: string;
  /** Path of a file, or a config as an object, in which handlers may be functions; default: the project's file. */
  config?: unknown;
  /** The base of a relative path; default: `directory`. */
  cwd?: string | undefined;
}

/** A config before it is checked. */
interface ConfigSource {
  value: unknown;
  /** `undefined` if the config was passed as an object. */
  text: ConfigText | undefined;
  /** Absolute path of its file, if it has one. */
  file: string | undefined;
  /** The base of relative paths in the config. Absolute. */
  directory: string;
  /** The project's folder. Absolute. */
  project: string;
}

/** The path for problems: relative to the project if the file is inside it. */
function nameFile(directory: string, file: string): string {
  const way = relative(directory, file);
  return way.startsWith("..") || isAbsolute(way) ? file : way.split(sep).join("/");
}

async function readFile(port: InspectionPort, directory: string, path: string): Promise<ConfigSource> {
  const file = nameFile(directory, path);
  const fail = (reason: string, hint?: string) =>
    failure("InvalidConfig", hint === undefined ? { reason } : { reason, hint }, { file });
  if (!/\.(?:ya?ml|json)$/i.test(path)) {
    throw fail(`${quote(basename(path))} is not a config file name`, "Use a .yaml, .yml or .json file.");
  }
  // Links to anywhere are allowed, because the user created them.
  const real = port.realPath(path);
  const read = real === undefined ? undefined : port.readFile(dirname(real), basename(real));
  if (read === undefined || read.state === "absent") throw fail("the file does not exist");
  if (read.state === "tooLarge") throw fail(`it has ${read.bytes} bytes, which exceeds the limit`);
  if (read.state !== "read")
    throw fail(read.state === "unusable" ? read.reason : "it was moved while it was being read");
  const text = await parseConfig(file, read.bytes);
  return { value: text.value, text, file: path, directory: dirname(path), project: directory };
}

/** Reads and parses a session's config. Throws `TrailblazeError` `InvalidConfig` if it cannot be read. */
async function readConfigSource(
  port: InspectionPort,
  { directory, config, cwd = directory }: ConfigOptions,
): Promise<ConfigSource> {
  if (typeof config === "string") return await readFile(port, directory, resolve(directory, cwd, config));
  if (config === undefined) {
    const text = await readProjectConfig(port, directory);
    const file = text === undefined ? undefined : join(directory, text.file);
    return { value: text?.value, text, file, directory, project: directory };
  }
  if (isRecord(config))
    return { value: config, text: undefined, file: undefined, directory, project: directory };
  const reason = `expected a path or an object, found ${describeType(config)}`;
  throw failure("InvalidConfig", { reason });
}

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

/** A config with everything that is wrong with it. */
interface ConfigCheck extends Pick<ShapeCheck, "cleaned" | "checked"> {
  faults: ConfigFault[];
}

/** Checks the content of a config: its shape, and the rules that a schema cannot express. Pure. */
function checkConfig(content: unknown, mayBeFunction: boolean): ConfigCheck {
  const written = content ?? {};
  if (!isRecord(written)) {
    const fault = { reason: `expected an object, found ${describeType(written)}`, path: [] };
    return { cleaned: {}, checked: undefined, faults: [fault] };
  }
  const { cleaned, checked, faults } = checkShape(written);
  const toolsets = isRecord(cleaned.toolsets) ? Object.entries(cleaned.toolsets) : [];
  const others = [
    ...findMemoryFaults(cleaned.memory),
    ...findPacksFaults(cleaned.packs),
    ...findOptionsFaults(cleaned.options),
    ...findItemNameFaults(cleaned.toolsets, "toolsets"),
    ...toolsets.flatMap(([name, list]) => [...findReferenceFaults(list, ["toolsets", name])]),
    ...findServerFaults(cleaned.servers),
    ...findBuiltInFaults(cleaned.builtIns, mayBeFunction),
    ...findUserServerFaults(cleaned),
  ];
  return { cleaned, checked, faults: [...faults, ...others] };
}

/** The error about `packs` of a config, or about keys that may stand for it, where `readPlainPolicy` refuses the config. */
export async function explainPacks(text: ConfigText): Promise<TrailblazeError> {
  const { faults } = checkConfig(text.value, false);
  const ours = faults.filter(
    ({ path: [key = "packs"] }) => key === "packs" || isMisspelledPacks(String(key)),
  );
  const [first, ...others] = await describeConfigFaults(ours, text);
  if (first === undefined) throw new Error("The two checks of `packs` disagree.");
  return configFailure([first, ...others]);
}

async function check(source: ConfigSource): Promise<ConfigCheck & { problems: Problem[] }> {
  const { value, text } = source;
  const checked = checkConfig(value, text === undefined);
  return { ...checked, problems: await describeConfigFaults(checked.faults, text) };
}

/**
 * Reads a session's config with its defaults: the project's file, another file, or an object. Without a file, the config
 * is empty. Throws `TrailblazeError` `InvalidConfig` for the first error, with its place and the count of the others.
 */
export async function readConfig(port: InspectionPort, options: ConfigOptions): Promise<SessionConfig> {
  const source = await readConfigSource(port, options);
  const { cleaned, checked, problems } = await check(source);
  const [first, ...others] = problems;
  if (first !== undefined) throw configFailure([first, ...others]);
  if (checked === undefined) throw new Error("The config violates its schema without a problem.");
  const notes = await describeConfigFaults([...findUserServerNotes(source.value)], source.text);
  return { ...buildConfig(checked, cleaned, source), problems: notes };
}

/** Every problem of a session's config, as `InvalidConfig`; empty if the config is valid. */
export async function findConfigProblems(port: InspectionPort, options: ConfigOptions): Promise<Problem[]> {
  try {
    return (await check(await readConfigSource(port, options))).problems;
  } catch (error) {
    if (error instanceof TrailblazeError) return [error.problem];
    throw error;
  }
}
