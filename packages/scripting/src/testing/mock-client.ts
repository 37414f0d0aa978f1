import { createClient, type TrailblazeClient } from "../client.ts";
import { convertResult, convertThrown } from "../convert-result.ts";

/** The answer of a tool: a result, a value to convert to one (a string, data), or a function of the arguments. */
export type Stub = unknown | ((args: Record<string, unknown>) => unknown);

/** A client that answers from stubs and records its calls. */
export type MockClient = TrailblazeClient & {
  /** Every call so far, in order. */
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
};

/** Creates a client with stubs by advertised name. A call of another tool rejects, and the error lists the stubs. */
export function createMockClient(stubs: Readonly<Record<string, Stub>> = {}): MockClient {
  const calls: { name: string; args: Record<string, unknown> }[] = [];
  const byName = new Map(Object.entries(stubs));
  const client = createClient(async (name, args) => {
    calls.push({ name, args });
    if (!byName.has(name)) {
      const known = [...byName.keys()].join(", ") || "none";
      throw new Error(`No stub for the tool ${JSON.stringify(name)}. Stubs: ${known}.`);
    }
    const stub = byName.get(name);
    try {
      return convertResult(await (typeof stub === "function" ? stub(args) : stub));
    } catch (thrown) {
      return convertThrown(thrown);
    }
  });
  return Object.freeze({ ...client, calls });
}
