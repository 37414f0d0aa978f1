import type { DiscoveryPort } from "../files/discovery-port.ts";
import type { TrailblazeError } from "../problems/index.ts";
import type { AdministratorPolicy } from "./policy-rules.ts";

/** The result of reading a policy. Without `policy` and `fault`, there is none. */
export interface PolicyRead {
  policy?: AdministratorPolicy;
  /** `PolicyUnsafe` or `PolicyMalformed`. Then nothing may run. */
  fault?: TrailblazeError;
}

/** Reads the administrator's policy. Never rejects, so that discovery and inspection can report what is wrong with it. */
export async function readPolicy(port: DiscoveryPort): Promise<PolicyRead> {
  const read = port.readPolicyFile();
  if (read.state === "absent") return {};
  const { parsePolicy } = await import("./parse-policy.ts");
  return parsePolicy(read);
}

/**
 * Reads the policy for the execution level. Throws `TrailblazeError` `PolicyUnsafe` or `PolicyMalformed` if it cannot be
 * used, because a policy that is ignored allows what it excludes.
 */
export async function requirePolicy(port: DiscoveryPort): Promise<AdministratorPolicy | undefined> {
  const { policy, fault } = await readPolicy(port);
  if (fault !== undefined) throw fault;
  return policy;
}
