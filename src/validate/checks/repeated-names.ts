import { findReferences } from "../../definitions/references.ts";
import type { InspectedItem, Path } from "../../definitions/types.ts";
import { isQualifiedName, parseQualifiedName } from "../../qualified-names/index.ts";
import { type Check, type Finding, findInItem } from "../finding.ts";
import { advertisedName, findTools } from "./subjects/tools.ts";

/** A name that an item, or an entry of one, is offered by. */
interface Claim {
  name: string;
  item: InspectedItem;
  path: Path;
}

/** The toolsets of the pack that a server is made of, those inside others included. */
function findToolsets(server: InspectedItem, items: readonly InspectedItem[]): Set<InspectedItem> {
  const toolsets = items.filter(({ declaration }) => declaration.kind === "toolset");
  const found = new Set([server]);
  for (const from of found) {
    for (const { reference, kind } of findReferences(from)) {
      if (kind !== "toolset") continue;
      const name = isQualifiedName(reference) ? withoutRange(reference) : reference;
      const meant = toolsets.find((one) => one.declaration.name === name || one.qualifiedName === name);
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
function* findRepeated(claims: readonly Claim[], reported: Set<Claim>): Generator<Finding> {
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
    else entries.set(item, [...(entries.get(item) ?? []), claim]);
  }
  for (const item of items) {
    const name = item.shape === "prompt" ? advertisedName(item.definition ?? {}) : undefined;
    if (name !== undefined) prompts.push({ name, item, path: ["name"] });
  }
  const servers = items.filter(({ shape }) => shape === "composedServer" || shape === "serverDocument");
  const served = servers.map((server) =>
    [...findToolsets(server, items)].flatMap((one) => entries.get(one) ?? []),
  );
  const reported = new Set<Claim>();
  for (const claims of [tools, prompts, ...entries.values(), ...served])
    yield* findRepeated(claims, reported);
};
