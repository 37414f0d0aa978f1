import { failure } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/index.ts";
import type { ClientRecord } from "./client.ts";
import { desktopApps } from "./desktop-apps.ts";
import { editors } from "./editors.ts";
import { terminalAgents } from "./terminal-agents.ts";

/** All known clients, sorted by id. */
export const clients: readonly ClientRecord[] = [...editors, ...terminalAgents, ...desktopApps].sort(
  (a, b) => (a.id < b.id ? -1 : 1),
);

/** The client with an id or an alias; ignores case and spaces. Throws `TrailblazeError` `UnknownClient`. */
export function findClient(name: string): ClientRecord {
  const wanted = String(name).trim().toLowerCase().replace(/[ _]+/g, "-");
  const found =
    clients.find(({ id }) => id === wanted) ?? clients.find(({ aliases }) => aliases.includes(wanted));
  if (found !== undefined) return found;
  const compact = (text: string) => text.replaceAll("-", "");
  const named = clients.filter(({ id, aliases }) =>
    [id, ...aliases].some((one) => compact(one) === compact(wanted)),
  );
  const [only, second] = named;
  if (only !== undefined && second === undefined) return only;
  const near = findNearestNames(
    wanted,
    clients.flatMap(({ id, aliases }) => [id, ...aliases]),
  );
  throw failure("UnknownClient", { name: String(name), nearest: near });
}

/** The client, and others that read the same container of a file in the same format. */
export function findReaders(client: ClientRecord): ClientRecord[] {
  const place = ({ format, container, isList }: ClientRecord) => JSON.stringify([format, container, isList]);
  return [client, ...clients.filter((other) => other !== client && place(other) === place(client))];
}
