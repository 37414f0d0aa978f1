import { describeType, isRecord } from "../data/parse-json.ts";
import type { InspectionPort } from "../files/inspection-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";
import { readPolicy } from "./administrator-policy.ts";
import { buildConfig } from "./build-config.ts";
import { dropNulls, findConfigContentFaults } from "./check-config.ts";
import { configFailure, describeConfigFaults } from "./config-file.ts";
import { type ConfigOptions, type ConfigSource, readConfigSource } from "./config-source.ts";
import { type AdministratorPolicy, describeDenied } from "./policy-rules.ts";
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
 * is empty. The administrator's policy restricts it. Throws `TrailblazeError` `InvalidConfig` for the first error, with its
 * place and the count of the others, and `PolicyUnsafe` or `PolicyMalformed`.
 */
export async function readConfig(port: InspectionPort, options: ConfigOptions): Promise<SessionConfig> {
  // First, because a program must not run without it, whatever else is wrong.
  const { policy, fault } = await readPolicy(port);
  if (fault !== undefined && options.isForDiscovery !== true) throw fault;
  const source = await readConfigSource(port, options);
  const { config, problems } = await check(source);
  const [first, ...others] = problems;
  if (first !== undefined) throw configFailure([first, ...others]);
  const notes = await describeConfigFaults([...findUserServerNotes(source.value)], source.text);
  return narrow({ ...buildConfig(config, source), problems: notes }, policy);
}

/** Restricts a config to what the administrator's policy allows. Packs are restricted when they are found. */
function narrow(
  config: Omit<SessionConfig, "deniedServers" | "policy">,
  policy: AdministratorPolicy | undefined,
): SessionConfig {
  if (policy === undefined) return { ...config, policy, deniedServers: [] };
  const { allowsConfigServers, isolation = config.isolation } = policy;
  const narrowed = { ...config, policy, isolation, deniedServers: [] };
  if (allowsConfigServers) return narrowed;
  const deniedServers = config.subprocessServers.map(({ name }) => ({
    name,
    problem: describeDenied(policy, { what: "server", name }),
  }));
  return { ...narrowed, subprocessServers: [], deniedServers };
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
