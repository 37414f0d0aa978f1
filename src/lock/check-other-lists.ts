import type { ServerLists } from "../mcp/client/server-lists.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import type { ApprovedServer } from "./approved-server.ts";
import type { IsDenied } from "./gate.ts";

/**
 * Refuses the prompts and resources of a server that are not approved, with one problem for all new ones of a kind. What the config
 * excludes is neither reported nor a difference.
 */
export function checkOtherLists(
  server: ApprovedServer,
  { prompts, resources, resourceTemplates }: ServerLists,
  {
    refused,
    problems,
    differences,
    isDenied,
  }: {
    refused: Map<object, Problem>;
    problems: Problem[];
    differences: Set<string>;
    isDenied: IsDenied;
  },
): void {
  const { label, place, entry } = server;
  const check = (
    kind: "prompts" | "resources",
    checked: readonly (readonly [{ name: string }, NotApproved | undefined])[],
  ) => {
    const names: string[] = [];
    for (const [one, why] of checked) {
      if (why === undefined) {
        const name = `${label}/${one.name}`;
        if (server.isFree(one)) problems.push(createProblem("NotLocked", { name }, place));
        continue;
      }
      const problem = createProblem("NotApproved", why, place);
      refused.set(one, problem);
      if (why.state === "denied" || isDenied(one.name, kind)) continue;
      differences.add(why.name);
      if (why.state === "new") names.push(why.name.slice(label.length + 1));
      else problems.push(problem);
    }
    if (names.length === 0) return;
    const args = { name: label, state: "unlisted", differences: names, entry, list: kind } as const;
    problems.push(createProblem("NotApproved", args, place));
  };
  check(
    "prompts",
    prompts.map((one) => [one, server.explainPrompt(one)]),
  );
  check("resources", [
    ...resources.map((one) => [one, server.explainResource(one.uri, one)] as const),
    ...resourceTemplates.map((one) => [one, server.explainResource(one.uriTemplate, one)] as const),
  ]);
}
