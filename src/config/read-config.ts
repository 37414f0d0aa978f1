import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { buildConfig } from "./build-config.ts";
import { dropNulls, findConfigContentFaults } from "./check-config.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import { type ConfigOptions, type ConfigSource, readConfigSource } from "./config-source.ts";
import type { SessionConfig } from "./session-config.ts";

async function check(
  source: ConfigSource,
): Promise<{ config: Readonly<Record<string, unknown>>; problems: Problem[] }> {
  const { value, text } = source;
  const given = value ?? {};
  if (!isRecord(given)) {
    const fault = { reason: `it holds ${describeType(given)}, not a map`, path: [] };
    return { config: {}, problems: await describeConfigFaults([fault], text) };
  }
  const config = dropNulls(given);
  const faults = findConfigContentFaults(config, { mayBeFunction: text === undefined });
  return { config, problems: await describeConfigFaults(faults, text) };
}

/**
 * Reads a session's config, with its defaults: the project's file, another one, or an object. No file is an empty
 * config. Throws `TrailblazeError` `InvalidConfig` for the first fault, with its place; the hint says how many others
 * there are.
 */
export async function readConfig(port: InspectionPort, options: ConfigOptions): Promise<SessionConfig> {
  const source = await readConfigSource(port, options);
  const { config, problems } = await check(source);
  const [first, ...others] = problems;
  if (first !== undefined) throw configFailure([first, ...others]);
  return buildConfig(config, source);
}

/** Everything that is wrong with a session's config, each as `InvalidConfig`; empty where it can be used. */
export async function findConfigFaults(port: InspectionPort, options: ConfigOptions): Promise<Problem[]> {
  try {
    return (await check(await readConfigSource(port, options))).problems;
  } catch (error) {
    if (error instanceof TrailblazeError) return [error.problem];
    throw error;
  }
}
