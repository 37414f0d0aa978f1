// MCP Apps (`io.modelcontextprotocol/ui`): what sides declare of them, whom tools are for, and the URIs of their pages. Outside of
// its server or pack, `ui://REST` is `ui://LABEL/REST`, so that those of two sources differ.
import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";

export const appsExtension = "io.modelcontextprotocol/ui";

export type AppsDeclaration = Readonly<Record<typeof appsExtension, unknown>>;

/** What is told to servers that several clients share, of which some may not know apps. */
export const sharedApps: AppsDeclaration = { [appsExtension]: { mimeTypes: ["text/html;profile=mcp-app"] } };

/** What capabilities declare of apps; `undefined` if they do not. Other extensions do not pass. */
export function declaredApps(capabilities: unknown): AppsDeclaration | undefined {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined;
  return isRecord(extensions) && Object.hasOwn(extensions, appsExtension)
    ? { [appsExtension]: extensions[appsExtension] }
    : undefined;
}

/** The key that was used before `ui`. */
const flatKey = "ui/resourceUri";

const uiOf = (meta: unknown): Readonly<Record<string, unknown>> =>
  isRecord(meta) && isRecord(meta.ui) ? meta.ui : {};

/** Whether the `_meta` of a tool keeps it from models: it is for the code of an app. */
export function isForAppsAlone(meta: unknown): boolean {
  const { visibility } = uiOf(meta);
  return Array.isArray(visibility) && !visibility.includes("model");
}

const scheme = "ui://";

export const isAppUri = (uri: unknown): uri is string => typeof uri === "string" && uri.startsWith(scheme);

export const pagesOf = (meta: unknown): string[] =>
  [uiOf(meta).resourceUri, isRecord(meta) && meta[flatKey]].filter(isAppUri);

export const underPrefix = (prefix: string, uri: string): string =>
  prefix + uri.slice(uri.indexOf("://") + "://".length);

const prefixOf = (label: string) => `${scheme}${encodeURIComponent(label)}/`;

/** The URI outside of the source with this label; `undefined` for the host. */
export const toOutside = (label: string | undefined, uri: string): string =>
  label !== undefined && isAppUri(uri) ? underPrefix(prefixOf(label), uri) : uri;

export const isOutside = (label: string | undefined, uri: string): boolean =>
  label !== undefined && uri.startsWith(prefixOf(label));

/** The URI as its source writes it. */
export const toOwn = (label: string | undefined, uri: string): string =>
  label !== undefined && isOutside(label, uri) ? scheme + uri.slice(prefixOf(label).length) : uri;

/** Where a value has URIs: by keys, in arrays in each element. */
interface Places extends Readonly<Record<string, Places>> {}

const inMeta: Places = { ui: { resourceUri: {} }, [flatKey]: {} };
const inBlock: Places = { uri: {}, resource: { uri: {} } };
/** In entries of lists, results of calls, contents and prompts. The rest of `_meta` stays as it is. */
const everywhere: Places = {
  ...{ uri: {}, uriTemplate: {}, _meta: inMeta },
  ...{ content: inBlock, contents: { uri: {} }, messages: { content: inBlock } },
};

/** A copy of what a source lists or answers, in which the URIs of apps are renamed. */
export function renameUris<Value>(value: Value, rename: (uri: string) => string, places = everywhere): Value {
  if (isAppUri(value)) return rename(value) as Value;
  if (Array.isArray(value)) return value.map((one) => renameUris(one, rename, places)) as Value;
  if (!isRecord(value)) return value;
  const renamed = Object.entries(places).flatMap(([key, inner]) =>
    Object.hasOwn(value, key) ? [[key, renameUris(value[key], rename, inner)]] : [],
  );
  return carryIntegers(value, { ...value, ...Object.fromEntries(renamed) });
}

export const listOutside = <Listing>(listing: Listing, label: string | undefined): Listing =>
  renameUris(listing, (uri) => toOutside(label, uri));
