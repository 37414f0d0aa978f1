// Resources of packs, and suggestions for the values of arguments and variables.
import type { ModuleReference } from "./definitions.ts";
import type { HandlerContext } from "./handlers.ts";
import type { NeededInput } from "./input.ts";

/** A part of the contents of a resource. `blob` is base64. */
export type ResourceContents = {
  /** Default: the URI that is read. */
  uri?: string;
  mimeType?: string;
  _meta?: { [key: string]: unknown };
} & ({ text: string; blob?: never } | { blob: string; text?: never });

/** MCP's hints about a resource. */
export type ResourceAnnotations = {
  audience?: ("user" | "assistant")[];
  /** From 0, optional, to 1, required. */
  priority?: number;
  /** Date and time with a time zone, such as `2026-01-31T12:00:00Z`. */
  lastModified?: string;
};

/** The URI that is read, and the decoded variables of a template. A variable contains no `/` and is not `..`. */
export type ResourceArguments<Variables extends string = string> = { uri: string } & {
  [Variable in Variables]: string;
};

/** The result of a resource's handler: text, bytes, or all that the URI contains. The value of `needInput` asks first. */
export type ResourceHandlerResult = string | Uint8Array | { contents: ResourceContents[] } | NeededInput;

/** The handler of a resource. An error that it throws is the answer to the client. */
export type ResourceHandler<Variables extends string = string, Context = HandlerContext> = (
  args: ResourceArguments<Variables>,
  context: Context,
) => ResourceHandlerResult | Promise<ResourceHandlerResult>;

/** What a function that watches a resource gets besides the URI and the variables. */
export interface WatchContext {
  /** Aborts when no client is subscribed anymore. */
  readonly signal: AbortSignal;
  /** Tells the subscribed clients that the resource has changed. */
  changed(): void;
}

/** Watches a resource while clients are subscribed to it. */
export type WatchFunction<Variables extends string = string> = (
  args: ResourceArguments<Variables>,
  context: WatchContext,
) => unknown;

/** What a function that suggests values gets besides what the user has typed. */
export interface CompleteContext {
  /** The other arguments or variables that the client has sent. */
  readonly arguments: Readonly<Record<string, string>>;
  /** Aborts when the request is canceled. */
  readonly signal: AbortSignal;
}

/** Suggests values for what the user has typed. Clients get at most 100. */
export type CompleteFunction = (value: string, context: CompleteContext) => string[] | Promise<string[]>;

/** Suggestions: strings, of which the host chooses those that start with what the user has typed, or a function. */
export type CompletionSource = readonly string[] | ModuleReference | CompleteFunction;

/** The variables of a template: `"page"` for `docs://{page}`. */
export type TemplateVariables<Template extends string> = string extends Template
  ? string
  : Template extends `${string}{${infer Variable}}${infer Rest}`
    ? Variable | TemplateVariables<Rest>
    : never;

interface ResourceFields<Variables extends string> {
  name: string;
  title?: string;
  description?: string;
  /** Media type of the contents, such as `text/markdown`. */
  mimeType?: string;
  annotations?: ResourceAnnotations;
  _meta?: { [key: string]: unknown };
  /** Runs while clients are subscribed to the resource. */
  subscribe?: ModuleReference | WatchFunction<Variables>;
}

/** What a resource contains: one of the three. */
type ResourceSource<Variables extends string, Context> =
  | { text: string; file?: never; handler?: never }
  /** A path inside the package, of a file of at most 10 MiB. */
  | { file: string; text?: never; handler?: never }
  | { handler: ModuleReference | ResourceHandler<Variables, Context>; text?: never; file?: never };

/** A resource with a URI of its own. */
export type FixedResourceDefinition<Context = HandlerContext> = ResourceFields<never> &
  ResourceSource<never, Context> & { uri: string; uriTemplate?: never; complete?: never };

/** Resources whose URIs match a template: level 1 of RFC 6570, as in `docs://{page}`. */
export type ResourceTemplateDefinition<
  Template extends string = string,
  Context = HandlerContext,
> = ResourceFields<TemplateVariables<Template>> &
  ResourceSource<TemplateVariables<Template>, Context> & {
    uriTemplate: Template;
    uri?: never;
    /** Suggestions by variable. */
    complete?: { [Variable in TemplateVariables<Template>]?: CompletionSource };
  };

/** The definition of a resource, or of a template. `Template` is the type of the template. */
export type ResourceDefinition<Template extends string = string> =
  | FixedResourceDefinition
  | ResourceTemplateDefinition<Template>;
