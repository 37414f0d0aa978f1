import type { InspectionPort } from "../files/inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { buildConfig } from "./build-config.ts";
import { type ConfigCheck, checkConfig } from "./check-config.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import { type ConfigOptions, type ConfigSource, readConfigSource } from "./config-source.ts";
import type { SessionConfig } from "./session-config.ts";
import { findUserServerNotes } from "./user-server-faults.ts";

async function check(source: ConfigSource): Promise<ConfigCheck & { problems: Problem[] }> {
  const { value, text } = source;
  const checked = await checkConfig(value, { mayBeFunction: text === undefined });
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
