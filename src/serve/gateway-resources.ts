import type { ServerCompletion, Suggestions } from "../mcp/client/server-calls.ts";
import type { RunContext } from "../runtime/handler-context.ts";
import { type CodeUse, findResource, type PackResource } from "../runtime/pack-resource.ts";
import type { CodePlace } from "../runtime/tool-code.ts";
import type { CallScope } from "../session/calls.ts";
import { ownUriOf } from "../session/items.ts";
import { attempt } from "../session/names.ts";
import type { SessionParts } from "../session/session.ts";

/** How many resources are watched at once. */
const mostWatches = 1000;

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

/** What watches a URI. */
interface Watching {
  /** Looks again for what the URI is of. */
  refresh(): void;
  end(): void;
}

/** Watches of URIs: each is started once for all who want to hear of it, and ended with the last of them. */
export interface SharedWatches {
  /** Calls `listener` after each change, once however often it is added, until the returned function is called. */
  add(uri: string, listener: (uri: string) => void): () => void;
  refresh(): void;
}

/** What the gateway of a session has of it. */
interface Gateway {
  /** `undefined` until the session is open. */
  parts(): SessionParts | undefined;
  /** The scope of the session itself, for what belongs to no client. */
  ownScope(): CallScope;
  report(message: string): void;
}

/** The suggestions for an argument; `undefined` for an unknown prompt or template. */
export function complete(
  gateway: Gateway,
  request: ServerCompletion,
  signal: AbortSignal,
): Promise<Suggestions> | undefined {
  const parts = gateway.parts();
  if (parts === undefined) return undefined;
  const state = parts.frame.state();
  const { ref } = request;
  const isMeant = ({ uri, uriTemplate = uri }: { uri?: string; uriTemplate?: string }) =>
    ref.type === "ref/resource" && uriTemplate === ref.uri;
  const resources = state.of("resource");
  // An app knows the template of its server, which a single source must have.
  const ofApps = resources.filter((one) => ref.type === "ref/resource" && ownUriOf(one) === ref.uri);
  const item =
    ref.type === "ref/prompt"
      ? attempt(() => state.resolvePrompt(ref.name))
      : (resources.find(({ shown }) => isMeant(shown)) ?? (ofApps.length === 1 ? ofApps[0] : undefined));
  return item && parts.calls.suggest(item, request, { state, scope: gateway.ownScope(), signal });
}

/** The watches of a session's resources: of a pack by its own function, of a server by the server. */
export function createWatches(gateway: Gateway): SharedWatches {
  type Entry = { listener: (uri: string) => void };
  const watches = new Map<string, Watching & { added: Set<Entry> }>();
  const places = { left: mostWatches };
  const begin = (uri: string) => {
    const added = new Set<Entry>();
    const changed = () => {
      for (const listener of new Set(Array.from(added, (entry) => entry.listener))) listener(uri);
    };
    const begun = { ...watch(gateway, uri, changed, places), added };
    watches.set(uri, begun);
    return begun;
  };
  return {
    add(uri, listener) {
      const { added, end } = watches.get(uri) ?? begin(uri);
      const entry = { listener };
      added.add(entry);
      return () => {
        if (!added.delete(entry) || added.size > 0) return;
        watches.delete(uri);
        end();
      };
    },
    refresh() {
      for (const { refresh } of [...watches.values()]) refresh();
    },
  };
}

/** `places`: a URI takes one as long as it is of a resource. */
function watch(gateway: Gateway, uri: string, changed: () => void, places: { left: number }): Watching {
  let stopWatching = () => {};
  let end = () => {};
  let known: unknown;
  const refresh = () => {
    const parts = gateway.parts();
    const route = parts?.calls.findResource(parts.frame.state(), uri);
    const before = known;
    known = route?.by === "server" ? route.from.server : identify(route?.code);
    if (before === known) return;
    end();
    end = () => {};
    if (before !== undefined) changed();
    if (parts === undefined || route === undefined) return;
    if (places.left === 0) return gateway.report(`${uri} is not watched: ${mostWatches} resources are`);
    places.left--;
    stopWatching = () => {};
    end = () => {
      places.left++;
      stopWatching();
    };
    if (route.by === "server") {
      const isRefused = () => {
        const now = parts.calls.findResource(parts.frame.state(), uri);
        return now?.by !== "server" || now.from.findLeft("resource", now.id) !== undefined;
      };
      stopWatching = route.from.server.watchResource(route.id, changed, isRefused);
      return;
    }
    const resource = route.code;
    const found = findResource([resource], route.id);
    if (resource.watch === undefined || found === undefined) return;
    // Its code may be replaced while no call uses it.
    const release =
      resource.owner.content === undefined ? () => {} : parts.processes.runners.hold(resource.owner);
    const stop = new AbortController();
    const request = { state: parts.frame.state(), scope: gateway.ownScope() };
    const { runner, context } = parts.calls.useCode({ request }, resource.owner, uri, stop.signal);
    runCode(runner, resource.watch, { ...found.variables, uri: route.id }, { ...context, changed }).catch(
      (error) => {
        const reason = error instanceof Error ? error.message : String(error);
        if (!stop.signal.aborted) gateway.report(`${uri} is not watched any more: ${reason}`);
      },
    );
    stopWatching = () => {
      stop.abort(new DOMException("No client is subscribed any more.", "AbortError"));
      release();
    };
  };
  refresh();
  return { refresh, end: () => end() };
}
