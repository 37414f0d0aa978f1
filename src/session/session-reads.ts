import { fitsServerTemplate } from "../extension-schema/uri-template.ts";
import { findResource, type PackResource } from "../runtime/pack-resource.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { ServerSource } from "./server-source.ts";

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

/** Who made a link in a result: the label of a server, or the npm name of a pack. */
export interface LinkMaker {
  server?: string;
  pack?: string | undefined;
}

/** How a URI is read. */
export type ResourceRoute = { by: "code"; resource: PackResource } | { by: "server"; from: ServerSource };

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
    resourceServers: readonly ServerSource[];
  },
  maker: LinkMaker | undefined,
): ResourceRoute | undefined {
  const from = resourceServers.find(({ plan }) => plan.label === maker?.server);
  if (from !== undefined && from.findLeft("resource", uri) === undefined) return { by: "server", from };
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
    return fitsServerTemplate(uriTemplate, uri) && route.from.findLeft("resource", uri) === undefined;
  })?.route;
}
