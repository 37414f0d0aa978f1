import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import type { AdvertisedResource, AdvertisedResourceTemplate } from "../mcp/client/connected-server.ts";
import type { Problem } from "../problems/index.ts";
import { createEntryMeta } from "../runtime/mcp-shapes.ts";
import { findResource, type PackResource } from "../runtime/pack-resource.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { PlannedServer } from "./session-servers.ts";

/** A resource of a session, or a template of resources. Its strings are the author's and not trusted. */
export interface SessionResource {
  /** Either this or `uriTemplate`. */
  uri?: string;
  /** A URI with places for variables, such as `docs://{page}`. */
  uriTemplate?: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Readonly<Record<string, unknown>>;
  source: ToolSource;
}

/** A running server whose resources can be read. */
export interface ResourceServer extends PlannedServer {
  /** Whether a URI is of a resource that is excluded, and the problem that says why; `undefined` for any other one. */
  findHidden(uri: string): { problem: Problem | undefined } | undefined;
}

/** Who made a link in a result: the label of a server, or the npm name of a pack. */
export interface LinkMaker {
  server?: string;
  pack?: string | undefined;
}

/** How a URI is read. */
export type ResourceRoute = { by: "code"; resource: PackResource } | { by: "server"; from: ResourceServer };

/** A resource, and how it is read. */
export interface ResourceCandidate {
  resource: SessionResource;
  /** As MCP lists it. */
  listing: Readonly<Record<string, unknown>>;
  route: ResourceRoute;
}

/** An entry of a list of resources, or of templates. */
export type ResourceListing = Partial<Omit<SessionResource, "name" | "source">> & {
  name: string;
  _meta?: unknown;
};

export const describeResource = (
  { uri, uriTemplate, name, title, description, mimeType, annotations }: ResourceListing,
  source: ToolSource,
): SessionResource => ({
  ...(uri === undefined ? { uriTemplate: uriTemplate ?? "" } : { uri }),
  name,
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
  ...(mimeType === undefined ? {} : { mimeType }),
  ...(annotations === undefined ? {} : { annotations }),
  source,
});

/** The resources that a running server lists, in its order. */
export function collectServerResources(
  one: PlannedServer,
  lists: {
    resources: readonly AdvertisedResource[];
    resourceTemplates: readonly AdvertisedResourceTemplate[];
  },
  refused: ReadonlyMap<object, Problem>,
): { resources: ResourceCandidate[]; resourceServer: ResourceServer } {
  const all: readonly ResourceListing[] = [...lists.resources, ...lists.resourceTemplates];
  const isHidden = (listing: ResourceListing) => !one.isAllowed(listing.name) || refused.has(listing);
  const fits = ({ uri, uriTemplate = "" }: ResourceListing, asked: string) =>
    uri === asked || fitsServerTemplate(uriTemplate, asked);
  const hidden = all.filter(isHidden);
  const templates = lists.resourceTemplates.filter((one) => !isHidden(one));
  const findHidden = (asked: string) => {
    const found =
      hidden.find(({ uri }) => uri === asked) ??
      (templates.some((one) => fits(one, asked)) ? undefined : hidden.find((one) => fits(one, asked)));
    return found && { problem: refused.get(found) };
  };
  const resourceServer = { ...one, findHidden };
  const resources = all
    .filter((listing) => !isHidden(listing))
    .map(
      (listing): ResourceCandidate => ({
        resource: describeResource(listing, one.plan.source),
        listing: { ...listing, _meta: createEntryMeta(listing._meta, null) },
        route: { by: "server", from: resourceServer },
      }),
    );
  return { resources, resourceServer };
}

/**
 * How a URI is read: by the maker of its link, by the first source that lists it, or by the first with a template for it.
 * `undefined` for an unknown URI.
 */
export function findRoute(
  uri: string,
  {
    resources,
    resourceServers,
  }: {
    resources: readonly ResourceCandidate[];
    resourceServers: readonly ResourceServer[];
  },
  maker: LinkMaker | undefined,
): ResourceRoute | undefined {
  const from = resourceServers.find(({ plan }) => plan.label === maker?.server);
  if (from !== undefined && from.findHidden(uri) === undefined) return { by: "server", from };
  const ofPack = resources.flatMap(({ route, resource: { source } }) =>
    route.by === "code" && maker?.pack !== undefined && source.pack === maker.pack ? [route.resource] : [],
  );
  const own = findResource(ofPack, uri);
  if (own !== undefined) return { by: "code", resource: own.resource };
  const listed = resources.find(({ resource }) => resource.uri === uri);
  if (listed !== undefined) return listed.route;
  return resources.find(({ resource: { uriTemplate }, route }) => {
    if (uriTemplate === undefined) return false;
    if (route.by === "code") return route.resource.match(uri) !== undefined;
    return fitsServerTemplate(uriTemplate, uri) && route.from.findHidden(uri) === undefined;
  })?.route;
}
