import { isRecord } from "../../data/parse-json.ts";
import type { DiscoveredItem } from "../../discovery/types.ts";
import { type Declaration, type Needs, parseExtension } from "../../extension-schema/index.ts";
import { type Kind, type KindKey, keyOfKind, kinds } from "../../kinds.ts";
import type { Problem } from "../../problems/index.ts";
import { isPackageName, qualifyPackageName } from "../../qualified-names/index.ts";

/** A pack as a registry describes it. Its strings are untrusted. */
export type RemotePack = {
  /** The npm name. */
  name: string;
  qualifiedName: string;
  version: string | null;
  description: string | null;
  /** What its author says it needs; absent if that is not declared. */
  needs?: Needs;
} & Record<KindKey, RemoteItem[]> & {
    /** Whether any version of the package is installed in the project. */
    installed: boolean;
    /** Problems of the `trailblaze` field. */
    problems: Problem[];
  };

/** The keyword by which packs are found. */
export const packKeyword = "trailblaze-extension";

/** Keys of declarations to show for packs that are not installed. */
const shownKeys = {
  server: ["tools", "toolsets", "prompts", "resources"],
  tool: ["parameters"],
  toolset: ["tools"],
  prompt: ["arguments"],
  resource: ["uri", "uriTemplate", "mimeType"],
  skill: [],
} as const satisfies Readonly<Record<Kind, readonly string[]>>;

/** A declared item, with the additional keys of its declaration. */
export type RemoteItem = DiscoveredItem & { [Key in (typeof shownKeys)[Kind][number]]?: unknown };

/** Whether keywords of a package.json or a search hit include ours; `undefined` if there are none. */
export function hasPackKeyword(keywords: unknown): boolean | undefined {
  if (keywords === undefined || keywords === null) return undefined;
  if (typeof keywords === "string") return keywords.split(/[\s,]+/).includes(packKeyword);
  return Array.isArray(keywords) && keywords.includes(packKeyword);
}

function describeItem(pack: string, { kind, name, description, extra }: Declaration): RemoteItem {
  const item: Record<string, unknown> = { name, qualifiedName: `${pack}/${name}`, description };
  for (const key of shownKeys[kind]) if (Object.hasOwn(extra, key)) item[key] = extra[key];
  return item as unknown as RemoteItem;
}

const textOrNull = (value: unknown) => (typeof value === "string" ? value : null);

/**
 * Describes the pack of a registry's manifest; `undefined` if the manifest is of another package or not of a pack. Pure.
 */
export function describeRemotePack(
  name: string,
  manifest: unknown,
  installed: boolean,
): RemotePack | undefined {
  if (!isRecord(manifest) || manifest.name !== name || !isPackageName(name)) return undefined;
  if (!Object.hasOwn(manifest, "trailblaze")) return undefined;
  const { extension, problems } = parseExtension(manifest.trailblaze);
  const qualifiedName = qualifyPackageName(name);
  const items = Object.fromEntries(
    kinds
      .map((kind) => keyOfKind[kind])
      .map((key) => [key, extension[key].map((one) => describeItem(qualifiedName, one))]),
  ) as Record<KindKey, RemoteItem[]>;
  return {
    name,
    qualifiedName,
    version: textOrNull(manifest.version),
    description: textOrNull(manifest.description),
    ...(extension.needs && { needs: extension.needs }),
    ...items,
    installed,
    problems: problems.map((problem) => ({ ...problem, pack: name, file: "package.json" })),
  };
}
