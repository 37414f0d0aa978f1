import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { failure, quote } from "../problems/index.ts";
import { type ConfigText, parseConfig, readProjectConfig } from "./config-file.ts";

export interface ConfigOptions {
  /** The project's folder: absolute, symbolic links followed. */
  directory: string;
  /** Path of a file, or what would stand in one, with functions where a definition may have them; default: the project's file. */
  config?: unknown;
  /** What a relative path starts from; default: `directory`. */
  cwd?: string | undefined;
}

/** A config before it is checked. */
export interface ConfigSource {
  value: unknown;
  /** Absent where it was handed over as an object. */
  text: ConfigText | undefined;
  /** Absolute path of its file, if it has one. */
  file: string | undefined;
  /** Absolute. What relative paths in it start from. */
  directory: string;
}

/** A file as problems name it: relative to the project where it lies in it. */
function nameFile(directory: string, file: string): string {
  const way = relative(directory, file);
  return way.startsWith("..") || isAbsolute(way) ? file : way.split(sep).join("/");
}

async function readFile(port: InspectionPort, directory: string, path: string): Promise<ConfigSource> {
  const file = nameFile(directory, path);
  const fail = (reason: string, hint?: string) =>
    failure("InvalidConfig", hint === undefined ? { reason } : { reason, hint }, { file });
  if (!/\.(?:ya?ml|json)$/i.test(path)) {
    throw fail(`${quote(basename(path))} is no name of a config`, "It ends in .yaml, .yml or .json.");
  }
  // A link is the user's own decision, so it may lead anywhere.
  const real = port.realPath(path);
  const read = real === undefined ? undefined : port.readFile(dirname(real), basename(real));
  if (read === undefined || read.state === "absent") throw fail("there is no such file");
  if (read.state === "tooLarge") throw fail(`it has ${read.bytes} bytes, which is too much to be read`);
  if (read.state !== "read") throw fail(read.state === "unusable" ? read.reason : "it was moved meanwhile");
  const text = await parseConfig(file, read.bytes);
  return { value: text.value, text, file: path, directory: dirname(path) };
}

/** Finds a session's config and reads it. Throws `TrailblazeError` `InvalidConfig` where that cannot be done. */
export async function readConfigSource(
  port: InspectionPort,
  { directory, config, cwd = directory }: ConfigOptions,
): Promise<ConfigSource> {
  if (typeof config === "string") return await readFile(port, directory, resolve(directory, cwd, config));
  if (config === undefined) {
    const text = await readProjectConfig(port, directory);
    const file = text === undefined ? undefined : join(directory, text.file);
    return { value: text?.value, text, file, directory };
  }
  if (isRecord(config)) return { value: config, text: undefined, file: undefined, directory };
  const reason = `a config is a path or an object, but this is ${describeType(config)}`;
  throw failure("InvalidConfig", { reason });
}
