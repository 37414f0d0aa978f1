import type { InspectedItem } from "../inspection/types.ts";
import type { ServerCompletion, Suggestions } from "../mcp/client/connected-server.ts";
import type { CompletionRequest } from "../mcp/served-server.ts";
import { SharedWatches } from "../mcp/shared-watches.ts";
import { TrailblazeError } from "../problems/index.ts";
import type { RunContext } from "../runtime/handler-context.ts";
import {
  type CodeUse,
  findResource,
  type PackResource,
  suggestionMs,
  suggestValues,
} from "../runtime/pack-resource.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import type { CodeOwner, CodePlace } from "../runtime/tool-code.ts";
import { type CallScope, reachServer } from "../session/calls.ts";
import type { ServerSource } from "../session/server-source.ts";
import type { SessionParts } from "../session/session.ts";
import type { SessionState } from "../session/session-state.ts";

/** How many URIs are watched at once. */
const mostWatches = 1000;

/** What a name refers to; `undefined` for an unknown name. */
export function attempt<Value>(resolve: () => Value): Value | undefined {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof TrailblazeError) return undefined;
    throw error;
  }
}

/** Asks a server for suggestions. */
async function askServer(
  source: ServerSource,
  ref: ServerCompletion["ref"],
  { kind, argument: name, value, arguments: known }: CompletionRequest,
  signal: AbortSignal,
): Promise<Suggestions> {
  const limit = new TimeLimit(suggestionMs);
  source.server.beginRequest();
  try {
    const asked = { ref, argument: { name, value }, context: { arguments: known } };
    const named = ref.type === "ref/prompt" ? ref.name : ref.uri;
    const connected = await reachServer(source, { kind, name: named, signal, limits: [limit] });
    return await connected.complete(asked, { signal, limit });
  } finally {
    source.server.endRequest();
    limit.end();
  }
}

/** Runs a function of a pack. Rejects with the message of what it throws. */
async function runCode(
  runner: CodeUse["runner"],
  place: CodePlace,
  args: Record<string, unknown>,
  context: RunContext,
): Promise<void> {
  const outcome = await (await runner()).invoke(place, args, context);
  if ("thrown" in outcome) throw new Error(outcome.thrown.message);
}

/** What a followed resource is: another one has other contents. */
const identify = (resource: PackResource | undefined) =>
  JSON.stringify([resource?.item.definition, resource?.owner.content]);

export interface GatewayResourcesOptions {
  /** `undefined` until the session is open. */
  parts(): SessionParts | undefined;
  /** The scope of the session itself, for what belongs to no client. */
  ownScope(): CallScope;
  report(message: string): void;
}

/** The resources of an open session, and suggestions for its prompts and templates. */
export class GatewayResources {
  readonly #options: GatewayResourcesOptions;
  readonly #watches: SharedWatches = new SharedWatches((uri, changed) => {
    if (this.#watches.size < mostWatches) return this.#watch(uri, changed);
    this.#options.report(`${uri} is not watched: ${mostWatches} resources are`);
    return () => {};
  });
  /** Begins the watches again that a change of the session concerns. */
  readonly #refreshes = new Set<() => void>();
  constructor(options: GatewayResourcesOptions) {
    this.#options = options;
  }

  /** Calls `changed` after each change of a URI, until the returned function is called. */
  subscribe(uri: string, changed: () => void): () => void {
    return this.#watches.add(uri, changed);
  }

  /** Begins watches again after a change of resources. */
  refresh(): void {
    for (const one of [...this.#refreshes]) one();
  }

  /** The suggestions for an argument; `undefined` for an unknown prompt or template. */
  complete(request: CompletionRequest, signal: AbortSignal): Promise<Suggestions> | undefined {
    const parts = this.#options.parts();
    if (parts === undefined) return undefined;
    const state = parts.state();
    const { kind, name } = request;
    const suggest = (item: InspectedItem, owner: CodeOwner) =>
      suggestValues(item, owner, request, this.#useCode(parts, state, owner, name, signal)).then(
        (values) => ({ values }),
      );
    if (kind === "resource") {
      const listed = state.resources.find(
        ({ resource: { uri, uriTemplate = uri } }) => uriTemplate === name,
      )?.route;
      if (listed?.by !== "server") return listed && suggest(listed.resource.item, listed.resource.owner);
      return askServer(listed.from, { type: "ref/resource", uri: name }, request, signal);
    }
    const listed = attempt(() => state.resolvePrompt(name));
    if (listed?.route.by !== "server") return listed && suggest(listed.route.prompt.item, listed.route.owner);
    const { advertisedName } = listed.route;
    return askServer(listed.route.from, { type: "ref/prompt", name: advertisedName }, request, signal);
  }

  /** How code runs for a request that belongs to no client's call. */
  #useCode(
    { calls }: SessionParts,
    state: SessionState,
    owner: CodeOwner,
    name: string,
    signal: AbortSignal,
  ): CodeUse {
    return calls.useCode({ state, scope: this.#options.ownScope(), signal }, owner, name);
  }

  /** Watches a resource: of a pack by its own function, of a server by the server. */
  #watch(uri: string, changed: () => void): () => void {
    let end = () => {};
    let known: unknown;
    const begin = () => {
      const parts = this.#options.parts();
      const state = parts?.state();
      const route = state && parts?.calls.findResource(state, uri);
      const before = known;
      known = route?.by === "server" ? route.from.server : identify(route?.resource);
      if (before === known) return;
      end();
      end = () => {};
      if (before !== undefined) changed();
      if (parts === undefined || state === undefined || route === undefined) return;
      if (route.by === "server") {
        const isRefused = () => {
          const now = parts.calls.findResource(parts.state(), uri);
          return now?.by !== "server" || now.from.findLeft("resource", uri) !== undefined;
        };
        end = route.from.server.watchResource({ uri, changed, isRefused });
        return;
      }
      const { resource } = route;
      const follows = resource.owner.content !== undefined;
      const found = findResource([resource], uri);
      if (resource.watch === undefined || found === undefined) return;
      // Its code may be replaced while no call uses it.
      const release = follows ? parts.runners.hold(resource.owner) : () => {};
      const stop = new AbortController();
      const { runner, context } = this.#useCode(parts, state, resource.owner, uri, stop.signal);
      runCode(runner, resource.watch, { ...found.variables, uri }, { ...context, changed }).catch((error) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!stop.signal.aborted) this.#options.report(`${uri} is not watched any more: ${reason}`);
      });
      end = () => {
        stop.abort(new DOMException("No client is subscribed any more.", "AbortError"));
        release();
      };
    };
    this.#refreshes.add(begin);
    begin();
    return () => {
      this.#refreshes.delete(begin);
      end();
    };
  }
}
