import { findReferences } from "../../extension-schema/references.ts";
import type { InspectedItem } from "../../inspection/types.ts";
import type { Path } from "../../problems/index.ts";
import { isQualifiedName, parseQualifiedName } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { advertisedName, findTools, StepBudget } from "./subjects.ts";

/** A name that an item, or an entry of one, is offered by. */
interface Claim {
  name: string;
  item: InspectedItem;
  path: Path;
}

/** The toolsets of the pack that a server is made of, those inside others included. */
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
      const meant = toolsets.get(name);
      if (meant !== undefined) found.add(meant);
    }
  }
  return found;
}

function withoutRange(reference: string): string {
  const { publisher, pack, item } = parseQualifiedName(reference);
  return [publisher, pack, item].filter((part) => part !== undefined).join("/");
}

/** Claims to one name within which each may be made only once; the first counts. */
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
 * Names that two items offer at once: two tools, two prompts, or two entries of the bundles of one server. A bundle and
 * a plain tool may share a name, which then gets a number where it is served.
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
