import { DataSyntaxError } from "../data/parse-json.ts";
import { locateProblems, parseSource, type SourceText } from "../data/source-text.ts";
import { configFiles, type DiscoveryPort } from "../files/discovery-port.ts";
import { failure, type Problem } from "../problems/index.ts";

export interface ConfigText {
  /** The path for problems: relative to the project if the file is inside it. */
  file: string;
  value: unknown;
  source: SourceText;
}

const [yamlFile, misnamedFile, jsonFile] = configFiles;

const maximumBytes = 1 << 20;

/** Parses a config. Throws `TrailblazeError` `InvalidConfig` if it is not valid JSON or YAML. */
export async function parseConfig(file: string, bytes: Uint8Array): Promise<ConfigText> {
  if (bytes.length > maximumBytes) {
    const reason = `it has ${bytes.length} bytes, but the limit is ${maximumBytes}`;
    throw failure("InvalidConfig", { reason }, { file });
  }
  try {
    const format = file.toLowerCase().endsWith(".json") ? "json" : "yaml";
    return { file, ...(await parseSource(format, bytes)) };
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, ...position } = describeSyntaxError(error);
    throw failure("InvalidConfig", { reason }, { file, ...position });
  }
}

/**
 * Reads the config next to a project's package.json; `undefined` if there is none. Throws `TrailblazeError`
 * `InvalidConfig` if there are two, if its name is misspelled, or if it cannot be read.
 */
export async function readProjectConfig(
  port: DiscoveryPort,
  directory: string,
): Promise<ConfigText | undefined> {
  // A broken link counts as present: ignoring it would ignore a `deny`.
  if (port.hasProjectFile(directory, misnamedFile)) {
    const args = { reason: "this file name is not recognized", hint: `Rename it to ${yamlFile}.` };
    throw failure("InvalidConfig", args, { file: misnamedFile });
  }
  const [file, second] = ([yamlFile, jsonFile] as const).filter((name) =>
    port.hasProjectFile(directory, name),
  );
  if (file === undefined) return undefined;
  if (second !== undefined) {
    throw failure("InvalidConfig", { reason: `both ${file} and ${second} exist` }, { file });
  }
  const bytes = port.readProjectFile(directory, file);
  if (bytes === undefined) throw failure("InvalidConfig", { reason: "the file cannot be read" }, { file });
  return await parseConfig(file, bytes);
}

/** Adds file, line and column to problems with a path from the config's top, if the config has a file. */
export async function locateInConfig(
  problems: readonly Problem[],
  text: ConfigText | undefined,
): Promise<Problem[]> {
  if (text === undefined) return [...problems];
  const { file, source } = text;
  return locateProblems(
    problems.map((problem) => ({ problem: { ...problem, file }, source, at: problem.path ?? [] })),
  );
}
