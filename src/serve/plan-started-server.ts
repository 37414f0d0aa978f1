import { failure, quote } from "../problems/index.ts";
import { type ProgramPlan, planUserServer } from "../runtime/server-launches.ts";

/** How to start a server of the config by itself. Throws `InvalidArguments` for a remote server. */
export async function planStartedServer(...given: Parameters<typeof planUserServer>): Promise<ProgramPlan> {
  const [, { name, url }] = given;
  if (url === undefined) return planUserServer(...given);
  const reason = `${quote(name)} is a remote server, which cannot be started`;
  const hint = "Omit it to serve the tools of all servers, or add its URL to the client.";
  throw failure("InvalidArguments", { reason, hint });
}
