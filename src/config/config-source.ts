import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { failure, quote } from "../problems/index.ts";
import { type ConfigText, parseConfig, readProjectConfig } from "./config-file.ts";

export interface ConfigOptions {
  /** The project's folder: absolute, symbolic links followed. */
  directory: string;
  /** Path of a file, or a config as an object, in which handlers may be functions; default: the project's file. */
  config?: unknown;
  /** The base of a relative path; default: `directory`. */
  cwd?: string | undefined;
}

/** A config before it is checked. */
export interface ConfigSource {
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
export async function readConfigSource(
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
