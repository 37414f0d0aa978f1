import { findReferences } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { advertisedName, findTools, StepBudget } from "./subjects.ts";

/** A name that an item or an entry advertises. */
interface Claim {
  name: string;
  item: InspectedItem;
  path: Path;
}

/** The pack's toolsets that a server contains, directly or indirectly, and the server itself. */
function findToolsets(
  server: InspectedItem,
  toolsets: ReadonlyMap<string, InspectedItem>,
  steps: StepBudget,
): Set<InspectedItem> {
  const found = new Set([server]);
  for (const from of found) {
    for (const { reference, kind } of findReferences(from)) {
      if (!steps.take()) return found;
      if (kind !== "toolset") continue;
      const name = isQualifiedName(reference) ? withoutRange(reference) : reference;
      const toolset = toolsets.get(name);
      if (toolset !== undefined) found.add(toolset);
    }
  }
  return found;
}

function withoutRange(reference: string): string {
  const { publisher, pack, item } = parseQualifiedName(reference);
  return [publisher, pack, item].filter((part) => part !== undefined).join("/");
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
export const checkRepeatedNames: Check = function* ({ inspected: { items } }) {
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
  const toolsets = new Map<string, InspectedItem>();
  for (const item of items) {
    if (item.declaration.kind !== "toolset") continue;
    toolsets.set(item.declaration.name, item);
    toolsets.set(item.qualifiedName, item);
  }
  const steps = new StepBudget();
  function* servedBy(server: InspectedItem): Generator<Claim> {
    for (const one of findToolsets(server, toolsets, steps)) {
      for (const claim of entries.get(one) ?? []) if (steps.take()) yield claim;
    }
  }
  const reported = new Set<Claim>();
  for (const claims of [tools, prompts, ...entries.values()]) yield* findRepeated(claims, reported);
  for (const server of servers) yield* findRepeated(servedBy(server), reported);
};
