import { isAllowed } from "../config/packs-policy.ts";
import type { SessionConfig } from "../config/session-config.ts";
import { isNeededForTools, type PackServer } from "../config/tool-policy.ts";
import { isRecord } from "../data/parse-json.ts";
import type { FoundPacks } from "../discovery/find-packs.ts";
import { lookUpReferences } from "../discovery/look-up-pack.ts";
import { type FoundPack, isUnasked } from "../discovery/types.ts";
import type { Workspace } from "../discovery/workspace.ts";
import type { Declaration } from "../extension-schema/parse-extension.ts";
import { findReferences } from "../extension-schema/references.ts";
import { inspectionPort as port } from "../files/node-inspection-port.ts";
import type { InspectedPack } from "../inspection/types.ts";
import { type Kind, keyOfKind } from "../kinds.ts";
import { ownEntry } from "../lock/json.ts";
import { createProblem, type Problem } from "../problems/index.ts";
import { describeSource } from "../runtime/server-launches.ts";
import type { LeftOut, Skipped } from "./items.ts";

/** The order in which a pack's items are reported. */
const order: readonly Kind[] = ["tool", "server", "toolset", "prompt", "resource", "skill"];

/** A pack's server as the policy sees it. */
export function describeServer(found: FoundPack, name: string): PackServer {
  const { qualifiedName: pack } = found.pack;
  const items = new Set(declarationsOf(found).map((item) => `${pack}/${item.name}`));
  return { pack, server: `${pack}/${name}`, items };
}

export function declarationsOf({ extension }: FoundPack): Declaration[] {
  return order.flatMap((kind) => extension[keyOfKind[kind]]);
}

export function referencesOf({ toolsets, servers }: SessionConfig): string[] {
  const ofServers = servers.flatMap(({ tools, toolsets: sets, prompts, resources, skills }) =>
    [tools, sets, prompts, resources, skills].flat(),
  );
  return [...[...toolsets.values()].flat(), ...ofServers];
}

const denied: LeftOut = { reason: "Denied", message: "The config's `packs` excludes it." };

/**
 * Of the packs that were found and that the policy allows, and of those that `references` or selected items refer to. `takesSkills`:
 * whether the skills of a pack are selected.
 */
export async function selectPacks(
  found: FoundPacks,
  references: readonly string[],
  takesSkills?: (found: FoundPack) => boolean,
) {
  const { policy, workspace } = found;
  await lookUpReferences(port, found, references, "user");
  const listPacks = () => found.packs.filter(({ pack }) => !pack.shadowed && pack.origin !== "global");
  const loaded = new Map<FoundPack, InspectedPack>();
  const isChosen = ({ pack }: FoundPack, { name }: Declaration, isTransitive = false) =>
    isAllowed(policy, [pack.qualifiedName, `${pack.qualifiedName}/${name}`], isTransitive);
  /** Why an item is left out; `undefined` if it is selected. */
  const explain = (one: FoundPack, declaration: Declaration): LeftOut | undefined => {
    const { kind, name } = declaration;
    const isTaken = (isTransitive = false) =>
      isChosen(one, declaration, isTransitive) ||
      (kind === "server" && isNeededForTools(policy, describeServer(one, name), isTransitive));
    const forbidden = findForbidden(workspace, one, declaration);
    if (forbidden !== undefined) return { reason: "Denied", message: forbidden };
    // Of such a pack, a session uses nothing, whatever the config says.
    if (one.pack.problems.some(({ code }) => code === "HostVersionUnsupported")) {
      const message = "Its pack requires a different version of Trailblaze.";
      return { reason: "HostVersionUnsupported", message };
    }
    if (!isTaken()) return denied;
    if (isUnasked(one) && takesSkills?.(one) !== true) {
      const problem = refuseUnasked(one, name);
      return { reason: "NotApproved", message: problem.message, problem };
    }
    // Of a transitive pack, `packs.transitive` may name items; one that was looked up is selected whole.
    if (isTaken(one.pack.origin === "transitive" && one.pack.enabled === true)) return undefined;
    const message = "The project does not depend on its pack. Add it to `packs.transitive` to use it.";
    return { reason: "NotTaken", message };
  };
  const listItems = (one: FoundPack) =>
    declarationsOf(one).filter(({ kind }) => kind !== "skill" || takesSkills !== undefined);
  const load = async (one: FoundPack, only: readonly Declaration[]): Promise<InspectedPack> => {
    const { createDefinitionReader } = await import("../inspection/load-definitions.ts");
    const pack = await createDefinitionReader(port, one, {})(only);
    // Only subprocess servers have tools that `allow` can name without naming the server.
    const items = pack.items.filter(
      ({ shape, declaration }) => shape === "subprocessServer" || isChosen(pack, declaration),
    );
    const selected = { ...pack, items };
    loaded.set(one, selected);
    return selected;
  };
  for (;;) {
    const pending = listPacks().flatMap((one) => {
      const chosen = loaded.has(one) ? [] : listItems(one).filter((item) => explain(one, item) === undefined);
      return chosen.length === 0 ? [] : load(one, chosen);
    });
    if (pending.length === 0) break;
    for (const { pack, items } of await Promise.all(pending))
      await lookUpReferences(port, found, items.flatMap(findReferences), pack);
  }

  const skipped = listPacks().flatMap((one) => {
    const selected = new Set(loaded.get(one)?.items.map(({ declaration }) => declaration));
    return listItems(one)
      .filter((item) => !selected.has(item))
      .map((declaration): Skipped => {
        const { kind, name } = declaration;
        // What was needed for its tools may have turned out to be no server with tools of its own.
        const reason = explain(one, declaration) ?? denied;
        return { kind, name, source: describeSource(one, { declaration }), ...reason };
      });
  });
  return { selected: listPacks().flatMap((one) => loaded.get(one) ?? []), skipped };
}

/**
 * Why pnpm-workspace.yaml forbids a skill: `skills: false` forbids all of a package, a list all others. What it allows is not
 * approved by that. A file that cannot be read forbids what it could.
 */
export function findForbidden(
  { permissions }: Workspace,
  { pack }: Pick<FoundPack, "pack">,
  { kind, name }: Pick<Declaration, "kind" | "name">,
): string | undefined {
  if (kind !== "skill") return undefined;
  if (permissions === null) return "pnpm-workspace.yaml, which may not allow it, cannot be read.";
  const ofPack = ownEntry(permissions, pack.name);
  const skills = isRecord(ofPack) ? ofPack.skills : undefined;
  const isForbidden = skills === false || (Array.isArray(skills) && !skills.includes(name));
  return isForbidden ? "`permissions` in pnpm-workspace.yaml does not allow it." : undefined;
}

/** The problem of a skill of a pack without the field that no lock approves. */
export function refuseUnasked(
  { pack: { name: pack, qualifiedName: entry } }: FoundPack,
  name: string,
): Problem {
  const args = { name: `${entry}/${name}`, state: "new", differences: [], entry } as const;
  return createProblem("NotApproved", args, { pack, kind: "skill", item: name });
}
