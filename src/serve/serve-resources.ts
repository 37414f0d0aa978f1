import type { InspectedItem } from "../inspection/types.ts";
import type { createPackNotes } from "../mcp/client/call-result.ts";
import type { Suggestions } from "../mcp/client/connected-server.ts";
import { createLegacyQuestions } from "../mcp/questions.ts";
import type { CallChannel, CompletionRequest, ServedResources, ServedServer } from "../mcp/served-server.ts";
import { SharedWatches } from "../mcp/shared-watches.ts";
import { type CodeUse, findResource, type PackResource } from "../runtime/pack-resource.ts";
import { makesSuggestions, suggestValues } from "../runtime/suggestions.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";

/** How many URIs are watched at once. */
export const mostWatches = 1000;

/** How the code of a prompt or a resource runs for a request. */
export type UseCode = (owner: CodeOwner, channel: CallChannel) => CodeUse;

/** A channel for what is not a client's call. */
const quiet = (signal: AbortSignal): CallChannel => ({
  ...{ signal, depth: 0, log: () => {}, progress: () => {} },
  questions: createLegacyQuestions({ capabilities: {}, signal, send: () => Promise.reject() }),
});

/** Runs the watch of a resource until the returned function is called. `report` gets why it failed. */
export function watchResource(
  { resource, variables }: NonNullable<ReturnType<typeof findResource>>,
  uri: string,
  { useCode, changed, report }: { useCode: UseCode; changed(): void; report(message: string): void },
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const run = async (place: NonNullable<PackResource["watch"]>) => {
    const { runner, context } = useCode(resource.owner, quiet(signal));
    const outcome = await (await runner()).invoke(place, { ...variables, uri }, { ...context, changed });
    if ("thrown" in outcome) throw new Error(outcome.thrown.message);
  };
  if (resource.watch !== undefined)
    run(resource.watch).catch((error) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) report(`${uri} is not watched any more: ${reason}`);
    });
  return () => stop.abort(new DOMException("No client is subscribed any more.", "AbortError"));
}

/** Reports that a resource is not watched. */
export function refuseWatch(uri: string, report: (message: string) => void): () => void {
  report(`${uri} is not watched: ${mostWatches} resources are`);
  return () => {};
}

/** Serves resources of packs, whose list does not change. Of two with one URI, the first is served. */
export function serveResources(
  resources: readonly PackResource[],
  useCode: UseCode,
  report: (message: string) => void,
  noteLeftOut: ReturnType<typeof createPackNotes>,
): ServedResources {
  const seen = new Set<string>();
  const served = resources.filter(({ uri, item }) => {
    if (seen.has(uri))
      report(`DuplicateResourceUri: ${item.qualifiedName} is left out: ${uri} is served already`);
    return !seen.has(uri) && seen.add(uri);
  });
  const listingsOf = (isTemplate: boolean) =>
    served.filter((one) => one.isTemplate === isTemplate).map(({ listing }) => listing);
  const watches = new SharedWatches((uri, changed) => {
    const found = findResource(served, uri);
    if (found?.resource.watch === undefined) return () => {};
    if (watches.size >= mostWatches) return refuseWatch(uri, report);
    return watchResource(found, uri, { useCode, changed, report });
  });
  return {
    listed: listingsOf(false),
    templates: listingsOf(true),
    find(uri) {
      const found = findResource(served, uri);
      if (found === undefined) return undefined;
      const { resource, variables } = found;
      return ({ input, state }, channel) => {
        const { runner, context } = useCode(resource.owner, channel);
        const round = input === undefined ? {} : { input, state };
        const leaveOut = noteLeftOut("resources/read", { uri }, resource.owner);
        return resource.read(uri, variables, { runner, context: { ...context, ...round }, leaveOut });
      };
    },
    ...(served.some(({ watch }) => watch !== undefined)
      ? { subscribe: (uri, changed) => watches.add(uri, changed) }
      : {}),
  };
}

/** A prompt or a template, by the name or the template that clients see. */
export interface Suggesting {
  kind: "prompt" | "resource";
  name: string;
  /** Of a pack, or the request to a server. */
  by:
    | { code: { item: InspectedItem; owner: CodeOwner } }
    | { ask(request: CompletionRequest, signal: AbortSignal): Promise<Suggestions> };
}

/** The suggestions for an argument; `undefined` for an unknown prompt or template. */
export function suggest(
  all: readonly Suggesting[],
  request: CompletionRequest,
  signal: AbortSignal,
  useCode: UseCode,
): Promise<Suggestions> | undefined {
  const by = all.find(({ kind, name }) => kind === request.kind && name === request.name)?.by;
  if (by === undefined) return undefined;
  if ("ask" in by) return by.ask(request, signal);
  const { item, owner } = by.code;
  return suggestValues(item, owner, request, useCode(owner, quiet(signal))).then((values) => ({ values }));
}

/** Serves the suggestions for arguments; `undefined` if there are none. */
export const serveSuggestions = (all: readonly Suggesting[], useCode: UseCode): ServedServer["complete"] =>
  all.some(({ by }) => "code" in by && makesSuggestions(by.code.item))
    ? (request, signal) => suggest(all, request, signal, useCode)
    : undefined;
