import {
  isItemAllowed,
  isNeededForTools,
  type PackServer,
  type PacksPolicy,
} from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import type { FoundPack } from "../discovery/types.ts";
import type { Declaration } from "../extension-schema/index.ts";
import { findQualifiedNames } from "../extension-schema/references.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import type { Problem } from "../problems/index.ts";
import type { SkipReason } from "./session-tool.ts";

/** An item that a session does not offer, and the reason. */
export interface Excluded {
  found: FoundPack;
  declaration: Declaration;
  reason: SkipReason;
  message: string;
  /** The error of calls, if it is not only that there is no such tool. */
  problem?: Problem;
}

/** A pack and its items that the session offers. */
export interface SelectedPack {
  found: FoundPack;
  /** In declared order. */
  selected: readonly Declaration[];
}

export interface Selection {
  selected: InspectedPack[];
  excluded: Excluded[];
}

/** The order in which a pack's items are reported. */
const order: readonly Kind[] = ["tool", "server", "toolset", "prompt", "resource"];

/** Creates descriptions of a pack's servers, as the policy sees them, from their names. */
export function describeServers(found: FoundPack): (name: string) => PackServer {
  const { qualifiedName: pack } = found.pack;
  const items = new Set(declarationsOf(found).map((item) => `${pack}/${item.name}`));
  return (name) => ({ pack, server: `${pack}/${name}`, items });
}

export function declarationsOf({ extension }: FoundPack): Declaration[] {
  return order.flatMap((kind) => extension[keyOfKind[kind]]);
}

/** What the config itself refers to. */
export function referencesOf({ toolsets, servers }: SessionConfig): string[] {
  const ofServers = servers.flatMap(({ tools, toolsets: sets, prompts, resources }) =>
    [tools, sets, prompts, resources].flat(),
  );
  return [...[...toolsets.values()].flat(), ...ofServers];
}

/**
 * Selects the packs and items of a session: those of the project, its workspace and its dependencies that the policy
 * allows, and transitive ones that the policy names or that a selected item refers to. `load` reads the definitions of
 * selected items; their references may select more.
 */
export async function selectPacks(
  packs: readonly FoundPack[],
  policy: PacksPolicy,
  references: readonly string[],
  load: (pack: SelectedPack) => Promise<InspectedPack>,
): Promise<Selection> {
  const candidates = packs.filter(({ pack }) => !pack.shadowed && pack.origin !== "global");
  const usable = candidates.filter(({ pack }) => findRefusal(pack.problems) === undefined);
  const loaded = new Map<FoundPack, InspectedPack>();
  const isChosen = ({ pack }: FoundPack, { name }: Declaration, isTransitive: boolean) =>
    isItemAllowed(policy, pack.qualifiedName, `${pack.qualifiedName}/${name}`, { isTransitive });
  const choose = (found: FoundPack, isTransitive: boolean): SelectedPack => {
    const describe = describeServers(found);
    const isSelected = (declaration: Declaration) =>
      isChosen(found, declaration, isTransitive) ||
      (declaration.kind === "server" &&
        isNeededForTools(policy, describe(declaration.name), { isTransitive }));
    return { found, selected: declarationsOf(found).filter(isSelected) };
  };
  /** Only subprocess servers have tools that `allow` can name without naming the server. */
  const withoutOthers = (pack: InspectedPack): InspectedPack => ({
    ...pack,
    items: pack.items.filter(
      ({ shape, declaration }) => shape === "subprocessServer" || isChosen(pack, declaration, false),
    ),
  });
  let pending = usable.map((found) => choose(found, found.pack.origin === "transitive"));
  while (pending.length > 0) {
    const wanted = pending.filter(({ selected }) => selected.length > 0);
    const inspected = (await Promise.all(wanted.map(load))).map(withoutOthers);
    for (const [index, { found }] of wanted.entries()) {
      const pack = inspected[index];
      if (pack !== undefined) loaded.set(found, pack);
    }
    const items = [...loaded.values()].flatMap((pack) => pack.items);
    const referred = new Set(findQualifiedNames(items, references).map(({ packageName }) => packageName));
    // A reference counts as a request of the user; the policy's `transitive` applies to other packs.
    pending = usable
      .filter((found) => !loaded.has(found) && found.pack.origin === "transitive")
      .filter(({ pack }) => referred.has(pack.name))
      .map((found) => choose(found, false))
      .filter(({ selected }) => selected.length > 0);
  }

  const excluded = candidates.flatMap((found) => {
    const selected = new Set(loaded.get(found)?.items.map(({ declaration }) => declaration));
    return declarationsOf(found)
      .filter((declaration) => !selected.has(declaration))
      .map((declaration) => ({ found, declaration, ...explain(found, declaration, policy) }));
  });
  return { selected: usable.flatMap((found) => loaded.get(found) ?? []), excluded };
}

/** Why a session uses nothing of a pack, whatever the config says; `undefined` if it may. */
function findRefusal(
  problems: readonly Problem[],
): Pick<Excluded, "reason" | "message" | "problem"> | undefined {
  if (!problems.some(({ code }) => code === "HostVersionUnsupported")) return undefined;
  return {
    reason: "HostVersionUnsupported",
    message: "Its pack requires a different version of Trailblaze.",
  };
}

function explain({ pack }: FoundPack, { name }: Declaration, policy: PacksPolicy) {
  const refusal = findRefusal(pack.problems);
  if (refusal !== undefined) return refusal;
  const isAllowed = isItemAllowed(policy, pack.qualifiedName, `${pack.qualifiedName}/${name}`, {
    isTransitive: false,
  });
  return isAllowed
    ? ({
        reason: "NotTaken",
        message: "The project does not depend on its pack. Add it to `packs.transitive` to use it.",
      } as const)
    : ({ reason: "Denied", message: "The config's `packs` excludes it." } as const);
}
