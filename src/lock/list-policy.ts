import { describeLeftOut } from "../mcp/client/call-result.ts";
import type {
  AdvertisedPrompt,
  AdvertisedResource,
  AdvertisedResourceTemplate,
  AdvertisedTool,
} from "../mcp/client/connected-server.ts";
import { type ListKey, listRules } from "../mcp/client/server-lists.ts";
import type { ListPolicy } from "../mcp/known-lists.ts";
import type { Problem } from "../problems/index.ts";
import type { NotApproved } from "../problems/lock-problems.ts";
import type { ApprovedServer } from "./approved-server.ts";

type Entry = Readonly<Record<string, unknown>>;

/** Why an entry of a list is not used; `undefined` for one that is. */
function explainEntry(server: ApprovedServer, list: ListKey, id: string, entry: Entry) {
  const listed: unknown = entry;
  switch (list) {
    case "tools":
      return server.explainTool(listed as AdvertisedTool);
    case "prompts":
      return server.explainPrompt(listed as AdvertisedPrompt);
    case "resources":
    case "resourceTemplates":
      return server.explainResource(id, listed as AdvertisedResource | AdvertisedResourceTemplate);
  }
}

/**
 * What clients of a server that is passed on learn. `isExcluded`: whether the config excludes an entry, by its name. `refuse`
 * is called with each difference.
 */
export function createListPolicy(
  server: ApprovedServer,
  {
    isExcluded,
    refuse,
    report,
  }: {
    isExcluded(list: ListKey, name: string): boolean;
    refuse(why: NotApproved): void;
    report(problem: Problem): void;
  },
): ListPolicy {
  return {
    leaveOut: (fault) => report(describeLeftOut(server.label, fault, server.place)),
    mayUse(list, entry) {
      const id = entry[listRules[list].id];
      if (typeof id !== "string") return false;
      const why = explainEntry(server, list, id, entry);
      // What the config excludes is no difference.
      if (why !== undefined && !isExcluded(list, String(entry.name))) refuse(why);
      return why === undefined;
    },
    checkInstructions(instructions) {
      if (server.locked.lists == null) return "omit";
      const why = server.explainInstructions(instructions);
      if (why !== undefined) refuse(why);
      return why === undefined ? "pass" : "refuse";
    },
  };
}
