import { onTestFinished } from "vitest";
import type { ServerProtocol } from "../../../src/mcp/client/json-rpc.ts";
import { RemoteCarrier, type RemoteOptions } from "../../../src/mcp/client/remote-server.ts";
import { type Introduction, Server } from "../../../src/mcp/client/server.ts";
import { type ListKey, listKeys } from "../../../src/mcp/client/server-lists.ts";
import type { ManualClock } from "../../session/support/manual-clock.ts";
import { failureOf } from "../../support/failure-of.ts";

export interface RemoteLaunchOptions extends RemoteOptions {
  headers?: Record<string, string>;
  protocol?: ServerProtocol;
  handshakeMs?: number;
  onSlow?: (limitMs: number) => void;
}

export const call = (name: string, args: Record<string, unknown> = {}) => ({
  name,
  arguments: args,
  _meta: { trailblaze: { a: 1 } },
});

/** What a server lists, by list. */
export const listsOf = ({ entries }: Pick<Introduction, "entries">) => {
  const inList = (key: ListKey) => entries.filter(({ list }) => list === key).map(({ entry }) => entry);
  return Object.fromEntries(listKeys.map((key) => [key, inList(key)])) as Record<ListKey, { name: string }[]>;
};

/** Connects to a server; the connection ends with the test. */
export function startRemote(
  url: string,
  {
    headers = {},
    protocol = "auto",
    handshakeMs = 20_000,
    onSlow = () => {},
    ...options
  }: RemoteLaunchOptions = {},
) {
  const logs: unknown[] = [];
  let listChanges = 0;
  const launch = {
    label: "docs",
    url: new URL(url),
    shown: url,
    headers,
    protocol,
    secrets: () => [],
    timeouts: { handshakeMs, listMs: 20_000 },
  };
  const events = {
    onListChanged: () => {
      listChanges += 1;
    },
    onLeftOut() {},
    onSlow,
    onLog: (entry: unknown) => logs.push(entry),
  };
  const server = new Server(launch, events, new RemoteCarrier(launch, options));
  onTestFinished(() => server.close());
  const ready = server.ready.then((said) => Object.assign(server, said, listsOf(said)));
  ready.catch(() => {});
  return { ready, close: () => server.close(), logs, listChanges: () => listChanges };
}

/** The problem of a start that fails. */
export const problemOf = (...given: Parameters<typeof startRemote>) => failureOf(startRemote(...given).ready);

/** Advances to the next moment that something waits for in the next 5 s, which excludes the end of a probe. */
export function advanceToNext(clock: ManualClock): boolean {
  const [next] = clock.delays;
  if (next === undefined || next > 5000) return false;
  clock.advance(next);
  return true;
}
