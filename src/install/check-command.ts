import { relative } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { findClaims } from "../npm/managers/find-claims.ts";
import type { LinkedCommand } from "../npm/managers/linked-commands.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { HealthCheck } from "./check-health.ts";

/**
 * Checks which programs the reserved commands start in node_modules/.bin of the project and of its workspace's root. Warns
 * of other packages that provide the same commands.
 */
export async function checkCommand(
  port: DiscoveryPort,
  directory: string,
): Promise<{ check: HealthCheck; problems: Problem[] }> {
  const { claims, linked } = await findClaims(port, directory);
  const show = (path: string) => relative(directory, path);
  const describe = ({ file, target, isOwned }: LinkedCommand) => {
    const started = target === undefined ? "a missing file" : show(target);
    return `${show(file)} starts ${started}${isOwned ? "" : ", which belongs to another package"}`;
  };
  const foreign = linked.filter(({ isOwned }) => !isOwned);
  const own = linked.filter(({ command, isOwned }) => command === "trailblaze" && isOwned);
  const shown = foreign.length > 0 ? foreign : own;
  const problems = claims.map((claim) => {
    const isInForce = foreign.some(({ command }) => command === claim.command);
    const args = {
      ...claim,
      hint: "Remove the package with your package manager. With npm, run `npm rebuild trailblaze` afterwards.",
    };
    return createProblem("ReservedCommand", args, {}, isInForce ? "operation" : "bystander");
  });
  const summary = shown.length === 0 ? "not found in node_modules/.bin" : shown.map(describe).join("; ");
  return { check: { name: "command", ok: foreign.length === 0, summary }, problems };
}
