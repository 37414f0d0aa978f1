import { DataSyntaxError } from "../data/decode.ts";
import { locateProblems, parseSource, type SourceText } from "../data/source-text.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { createProblem, failure, type Path, type Problem, TrailblazeError } from "../problems/index.ts";

/** What is wrong with a config, and where from its top. */
export interface ConfigFault {
  reason: string;
  path: Path;
  hint?: string | undefined;
}

/** A config as it was read, and how to find where in its text a value stands. */
export interface ConfigText {
  /** As problems name it. */
  file: string;
  value: unknown;
  source: SourceText;
}

const fileNames = ["trailblaze.config.yaml", "trailblaze.config.json"] as const;

/** What is easily written in place of the first of them, and never read. */
const misnamedFile = "trailblaze.config.yml";

const maximumBytes = 1 << 20;
/** Beyond so many faults of one config, each more helps nobody. */
const maximumFaults = 1000;

/** Reads a config from its bytes. Throws `TrailblazeError` `InvalidConfig` where they are no JSON or YAML. */
export async function parseConfig(file: string, bytes: Uint8Array): Promise<ConfigText> {
  if (bytes.length > maximumBytes) {
    const reason = `it has ${bytes.length} bytes, more than the ${maximumBytes} that are read`;
    throw failure("InvalidConfig", { reason }, { file });
  }
  try {
    const format = file.toLowerCase().endsWith(".json") ? "json" : "yaml";
    return { file, ...(await parseSource(format, bytes)) };
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, cause, ...position } = describeSyntaxError(error);
    throw failure("InvalidConfig", { reason, cause }, { file, ...position });
  }
}

/**
 * Reads the config beside a project's package.json; `undefined` where there is none. Throws `TrailblazeError`
 * `InvalidConfig` where there are two, where it has a name that is not read, or where it cannot be read.
 */
export async function readProjectConfig(
  port: DiscoveryPort,
  directory: string,
): Promise<ConfigText | undefined> {
  // A link that leads nowhere counts as present: a `deny` that cannot be read is not the same as none.
  if (port.hasProjectFile(directory, misnamedFile)) {
    const args = { reason: "no file of this name is read", hint: `Rename it to ${fileNames[0]}.` };
    throw failure("InvalidConfig", args, { file: misnamedFile });
  }
  const [file, second] = fileNames.filter((name) => port.hasProjectFile(directory, name));
  if (file === undefined) return undefined;
  if (second !== undefined) {
    throw failure("InvalidConfig", { reason: `both ${file} and ${second} are there` }, { file });
  }
  const bytes = port.readProjectFile(directory, file);
  if (bytes === undefined) throw failure("InvalidConfig", { reason: "the file cannot be read" }, { file });
  return await parseConfig(file, bytes);
}

/** Problems whose path is from the config's top, with its file and their position there where it has one. */
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

/** Faults as problems: in the order of the text where there is one, at most a thousand. */
export async function describeConfigFaults(
  faults: readonly ConfigFault[],
  text: ConfigText | undefined,
): Promise<Problem[]> {
  if (faults.length === 0) return [];
  const problems = faults.slice(0, maximumFaults).map(({ reason, hint, path }) => {
    const args = hint === undefined ? { reason } : { reason, hint };
    return createProblem("InvalidConfig", args, { path });
  });
  return (await locateInConfig(problems, text)).sort(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

/** The error for a config with these problems: the first, which says how many others there are. */
export function configFailure([first, ...others]: readonly [Problem, ...Problem[]]): TrailblazeError {
  if (others.length === 0) return new TrailblazeError(first);
  if (first.code !== "InvalidConfig") return new TrailblazeError(first);
  const { code, severity: _, message: __, hint: ___, args, ...place } = first;
  return failure(code, { ...args, others: others.length }, place);
}
