import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { buildConfig } from "./build-config.ts";
import { dropNulls, findConfigContentFaults } from "./check-config.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import { type ConfigOptions, type ConfigSource, readConfigSource } from "./config-source.ts";
import type { SessionConfig } from "./session-config.ts";
import { findUserServerNotes } from "./user-server-faults.ts";

async function check(
  source: ConfigSource,
): Promise<{ config: Readonly<Record<string, unknown>>; problems: Problem[] }> {
  const { value, text } = source;
  const content = value ?? {};
  if (!isRecord(content)) {
    const fault = { reason: `expected an object, found ${describeType(content)}`, path: [] };
    return { config: {}, problems: await describeConfigFaults([fault], text) };
  }
  const config = dropNulls(content);
  const faults = await findConfigContentFaults(config, { mayBeFunction: text === undefined });
  return { config, problems: await describeConfigFaults(faults, text) };
}

/**
 * Reads a session's config with its defaults: the project's file, another file, or an object. Without a file, the config
 * is empty. Throws `TrailblazeError` `InvalidConfig` for the first error, with its place and the count of the others.
 */
export async function readConfig(port: InspectionPort, options: ConfigOptions): Promise<SessionConfig> {
  const source = await readConfigSource(port, options);
  const { config, problems } = await check(source);
  const [first, ...others] = problems;
  if (first !== undefined) throw configFailure([first, ...others]);
  const notes = await describeConfigFaults([...findUserServerNotes(source.value)], source.text);
  return { ...buildConfig(config, source), problems: notes };
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
