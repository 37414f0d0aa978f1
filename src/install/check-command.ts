import { relative } from "node:path";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { findClaims } from "../npm/managers/find-claims.ts";
import type { LinkedCommand } from "../npm/managers/linked-commands.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { HealthCheck } from "./check-health.ts";

/**
 * What the command `trailblaze` in node_modules/.bin of the project and of its workspace's root really starts, and the
 * commands that it passes through. Other packages that ask for the same commands are warned of.
 */
export async function checkCommand(
  port: DiscoveryPort,
  directory: string,
): Promise<{ check: HealthCheck; problems: Problem[] }> {
  const { claims, linked } = await findClaims(port, directory);
  const show = (path: string) => relative(directory, path);
  const describe = ({ file, target, isOwned }: LinkedCommand) => {
    const started = target === undefined ? "nothing that can be found" : show(target);
    return `${show(file)} starts ${started}${isOwned ? "" : ", which is another package's"}`;
  };
  const taken = linked.filter(({ isOwned }) => !isOwned);
  const own = linked.filter(({ command, isOwned }) => command === "trailblaze" && isOwned);
  const shown = taken.length > 0 ? taken : own;
  const problems = claims.map((claim) => {
    const isInForce = taken.some(({ command }) => command === claim.command);
    const args = {
      ...claim,
      hint: "Remove the package with your package manager. With npm, run `npm rebuild trailblaze` afterwards.",
    };
    return createProblem("ReservedCommand", args, {}, isInForce ? "operation" : "bystander");
  });
  const summary = shown.length === 0 ? "no trailblaze in node_modules/.bin" : shown.map(describe).join("; ");
  return { check: { name: "command", ok: taken.length === 0, summary }, problems };
}
