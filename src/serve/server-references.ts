import { isItemAllowed, type PacksPolicy } from "../config/packs-policy.ts";
import type { UserComposedServer } from "../config/session-config.ts";
import type { DiscoveredItem, DiscoveredPack, FoundPack } from "../discovery/types.ts";
import type { WrittenReference } from "../extension-schema/references.ts";
import type { DefinitionLibrary } from "../inspection/definition-library.ts";
import type { Referrer, ServerMembers } from "../inspection/server-contents.ts";
import type { InspectedItem } from "../inspection/types.ts";
import { failure, type Path } from "../problems/index.ts";

/** References to all tools, bundles, prompts and resources of a pack that the policy allows, for a server of all of them. */
export async function listPackReferences(
  pack: DiscoveredPack,
  policy: PacksPolicy,
  library: DefinitionLibrary,
): Promise<WrittenReference[]> {
  const isAllowed = ({ qualifiedName }: DiscoveredItem) =>
    isItemAllowed(policy, pack.qualifiedName, qualifiedName);
  const toolsets = pack.toolsets.filter(isAllowed).map(({ qualifiedName }) => qualifiedName);
  // Other toolsets only list tools.
  const bundles = (await library.load("toolset", toolsets)).filter(({ shape }) => shape === "toolsBundle");
  const lists = {
    tool: pack.tools.filter(isAllowed),
    toolset: bundles.map(({ declaration }) => declaration),
    prompt: pack.prompts.filter(isAllowed),
    resource: pack.resources.filter(isAllowed),
  } as const;
  const names = Object.entries(lists).map(([kind, list]) => [kind, list.map(({ name }) => name)] as const);
  return toReferences(Object.fromEntries(names), ["trailblaze"]);
}

const toReferences = (lists: Readonly<Record<string, readonly string[]>>, place: Path): WrittenReference[] =>
  Object.entries(lists).flatMap(([kind, list]) =>
    list.map((reference, index) => ({
      reference,
      kind: kind as WrittenReference["kind"],
      path: [...place, `${kind}s`, index],
    })),
  );

const notFoundCodes = {
  server: "ServerNotFound",
  tool: "ToolNotFound",
  toolset: "ToolsetNotFound",
  prompt: "PromptNotFound",
  resource: "ResourceNotFound",
} as const;

export const notFound = (name: string) => ({ name, otherKind: undefined, nearest: [] as string[] });

/** Throws for an item that the config excludes. */
export function refuseExcluded(
  policy: PacksPolicy,
  found: FoundPack,
  { declaration, qualifiedName }: InspectedItem,
): void {
  if (isItemAllowed(policy, found.pack.qualifiedName, qualifiedName)) return;
  const reason = "the config's `packs` excludes it.";
  throw failure(notFoundCodes[declaration.kind], { ...notFound(qualifiedName), reason });
}

/** Throws `DuplicateBundleEntry` for a name in two bundles. */
export function checkEntryNames({ tools }: ServerMembers): void {
  const owners = new Map<string, string>();
  for (const member of tools) {
    if (member.type !== "bundle") continue;
    const { definition, qualifiedName } = member.item;
    const entries = Array.isArray(definition?.entries) ? (definition.entries as { name?: unknown }[]) : [];
    for (const { name } of entries) {
      const other = owners.get(String(name));
      if (other !== undefined) {
        throw failure("DuplicateBundleEntry", { name: String(name), bundles: [other, qualifiedName] });
      }
      owners.set(String(name), qualifiedName);
    }
  }
}

/** The references of a server of the config. */
export function asReferrer({ name, tools, toolsets, prompts, resources }: UserComposedServer): Referrer {
  const references = toReferences({ tool: tools, toolset: toolsets, prompt: prompts, resource: resources }, [
    "servers",
    name,
  ]);
  return { from: "user", references, item: undefined };
}
