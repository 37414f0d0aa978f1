import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { advertisedName, findTools } from "./subjects.ts";

/** A name that an item or an entry advertises. */
interface Claim {
  name: string;
  item: InspectedItem;
  path: Path;
}

/** Reports repeated claims to a name, except for the first. */
function* findRepeated(claims: Iterable<Claim>, reported: Set<Claim>): Generator<Finding> {
  const first = new Map<string, Claim>();
  for (const claim of claims) {
    const { name, item, path } = claim;
    const other = first.get(name);
    if (other === undefined) first.set(name, claim);
    else if (!reported.has(claim)) {
      reported.add(claim);
      yield findInItem(item, "DuplicateAdvertisedName", { name, other: other.item.declaration.name }, path);
    }
  }
}

/**
 * Finds names that two tools, two prompts, or two bundle entries of one server advertise. A bundle entry and a tool may
 * share a name, because servers number them.
 */
export const checkRepeatedNames: Check = function* (pack) {
  const { items } = pack.inspected;
  const tools: Claim[] = [];
  const prompts: Claim[] = [];
  const entries = new Map<InspectedItem, Claim[]>();
  for (const { item, definition, path, isEntry } of findTools(items)) {
    const name = advertisedName(definition);
    if (name === undefined) continue;
    const claim = { name, item, path: [...path, "name"] };
    if (!isEntry) tools.push(claim);
    else if (!entries.has(item)) entries.set(item, [claim]);
    else entries.get(item)?.push(claim);
  }
  for (const item of items) {
    const name = item.shape === "prompt" ? advertisedName(item.definition ?? {}) : undefined;
    if (name !== undefined) prompts.push({ name, item, path: ["name"] });
  }
  const servers = items.filter(({ shape }) => shape === "composedServer" || shape === "serverDocument");
  function* servedBy(server: InspectedItem): Generator<Claim> {
    for (const { toolset, isRepeated } of pack.walkToolsets(server))
      if (!isRepeated) yield* entries.get(toolset) ?? [];
  }
  const reported = new Set<Claim>();
  for (const claims of [tools, prompts, ...entries.values()]) yield* findRepeated(claims, reported);
  for (const server of servers) yield* findRepeated(servedBy(server), reported);
};
