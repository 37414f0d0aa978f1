import type { InspectedItem } from "../inspection/types.ts";
import type { Suggestions } from "../mcp/client/connected-server.ts";
import { createLegacyQuestions } from "../mcp/questions.ts";
import type { CallChannel, CompletionRequest } from "../mcp/served-server.ts";
import type { CodeUse, findResource, PackResource } from "../runtime/pack-resource.ts";
import { suggestValues } from "../runtime/suggestions.ts";
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
