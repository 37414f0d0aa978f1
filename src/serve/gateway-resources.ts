import type { ServerCompletion, Suggestions } from "../mcp/client/connected-server.ts";
import type { CallChannel, CompletionRequest, ServedResources } from "../mcp/served-server.ts";
import { SharedWatches } from "../mcp/shared-watches.ts";
import { toSignal } from "../runtime/abort-listeners.ts";
import { findResource, type PackResource } from "../runtime/pack-resource.ts";
import { suggestionMs } from "../runtime/suggestions.ts";
import { TimeLimit } from "../runtime/time-limit.ts";
import { type CallScope, reachServer } from "../session/call.ts";
import type { SessionParts } from "../session/session.ts";
import type { PlannedServer } from "../session/session-servers.ts";
import type { SessionState } from "../session/session-state.ts";
import {
  mostWatches,
  refuseWatch,
  type Suggesting,
  suggest,
  type UseCode,
  watchResource,
} from "./serve-resources.ts";

/** Asks a server for suggestions. */
function askServer(planned: PlannedServer, ref: ServerCompletion["ref"]) {
  const named =
    ref.type === "ref/prompt"
      ? ({ kind: "prompt", name: ref.name } as const)
      : ({ kind: "resource", name: ref.uri } as const);
  const ask = async (request: CompletionRequest, signal: AbortSignal) => {
    const { argument: name, value, arguments: known } = request;
    const limit = new TimeLimit(suggestionMs);
    planned.server.beginRequest();
    try {
      const asked = { ref, argument: { name, value }, context: { arguments: known } };
      const connected = await reachServer(planned, { ...named, signal, limits: [limit] });
      return await connected.complete(asked, { signal, limit });
    } finally {
      planned.server.endRequest();
      limit.end();
    }
  };
  return { ask };
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
  readonly #watches: SharedWatches = new SharedWatches((uri, changed) =>
    this.#watches.size < mostWatches ? this.#watch(uri, changed) : refuseWatch(uri, this.#options.report),
  );
  /** Begins the watches again that a change of the session concerns. */
  readonly #refreshes = new Set<() => void>();
  #state: SessionState | undefined;
  #listed: ServedResources["listed"] = [];
  #templates: ServedResources["templates"] = [];

  constructor(options: GatewayResourcesOptions) {
    this.#options = options;
  }

  #read(): void {
    const state = this.#options.parts()?.state();
    if (state === undefined || state === this.#state) return;
    this.#state = state;
    const listingsOf = (key: "uri" | "uriTemplate") => {
      const entries = state.resources.flatMap(({ resource, listing }) => {
        const uri = resource[key];
        return uri === undefined ? [] : [[uri, listing] as const];
      });
      // Of several with one URI, the first is read.
      return [...new Map(entries.toReversed()).values()].reverse();
    };
    this.#listed = listingsOf("uri");
    this.#templates = listingsOf("uriTemplate");
  }

  /** What a client is served. `scopeOf` is called for each of its requests. */
  serve(scopeOf: (channel: CallChannel) => CallScope): ServedResources {
    const read = () => this.#read();
    const [listed, templates] = [() => this.#listed, () => this.#templates];
    return {
      get listed() {
        read();
        return listed();
      },
      get templates() {
        read();
        return templates();
      },
      find: (uri) => {
        const parts = this.#options.parts();
        const state = parts?.state();
        const route = state && parts?.requests.findResource(state, uri);
        if (parts === undefined || state === undefined || route === undefined) return undefined;
        return ({ input, state: given }, channel) => {
          const round = input === undefined ? undefined : { input, state: given };
          const { progress } = channel;
          const request = { signal: toSignal(channel.signal), progress, scope: scopeOf(channel), round };
          return parts.requests.askResource(state, route, uri, request);
        };
      },
      subscribe: (uri, changed) => this.#watches.add(uri, changed),
    };
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
    const items = new Map(
      state.packs.flatMap(({ inspected, owner }) =>
        inspected.items.map((item) => [item.qualifiedName, { item, owner }] as const),
      ),
    );
    const all = [
      ...state.prompts.flatMap(({ prompt: { name, qualifiedName }, route }): Suggesting[] => {
        const kind = "prompt";
        if (route.by === "server")
          return [{ kind, name, by: askServer(route, { type: "ref/prompt", name: route.advertisedName }) }];
        const code = items.get(qualifiedName ?? "");
        return code === undefined ? [] : [{ kind, name, by: { code } }];
      }),
      ...state.resources.map(({ resource, route }): Suggesting => {
        const name = resource.uriTemplate ?? resource.uri ?? "";
        const by =
          route.by === "code"
            ? { code: route.resource }
            : askServer(route.from, { type: "ref/resource", uri: name });
        return { kind: "resource", name, by };
      }),
    ];
    return suggest(all, request, signal, this.#useCode(parts, state, request.name));
  }

  #useCode(parts: SessionParts, state: SessionState, name: string): UseCode {
    return (owner, channel) => ({
      runner: () => parts.runners.get(owner),
      context: parts.requests.createContext(state, owner, name, this.#options.ownScope(), {
        progress: channel.progress,
        signal: toSignal(channel.signal),
      }),
    });
  }

  /** Watches a resource: of a pack by its own function, of a server by the server. */
  #watch(uri: string, changed: () => void): () => void {
    let end = () => {};
    let known: unknown;
    const begin = () => {
      const parts = this.#options.parts();
      const state = parts?.state();
      const route = state && parts?.requests.findResource(state, uri);
      const before = known;
      known = route?.by === "server" ? route.from.server : identify(route?.resource);
      if (before === known) return;
      end();
      end = () => {};
      if (before !== undefined) changed();
      if (parts === undefined || state === undefined || route === undefined) return;
      if (route.by === "server") {
        const isRefused = () => {
          const now = parts.requests.findResource(parts.state(), uri);
          return now?.by !== "server" || now.from.approval?.refuses("resource", uri) === true;
        };
        end = route.from.server.watchResource({ uri, changed, isRefused });
        return;
      }
      const { resource } = route;
      const follows = resource.owner.content !== undefined;
      const found = resource.watch && findResource([resource], uri);
      if (found === undefined) return;
      const useCode = this.#useCode(parts, state, uri);
      // Its code may be replaced while no call uses it.
      const release = follows ? parts.runners.hold(resource.owner) : () => {};
      const stop = watchResource(found, uri, { useCode, changed, report: this.#options.report });
      end = () => {
        stop();
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
