import { isRecord } from "../../data/parse-json.ts";
import type { ClientRecord } from "../clients/client.ts";
import { canonicalJson, type JsonRecord } from "../editing/config-value.ts";
import { findStartedServer, type Launch } from "./launch.ts";

export interface Environment {
  /** Values that stand in the file. */
  literals: ReadonlyMap<string, string>;
  /** Names whose values stay out of it. */
  names: readonly string[];
}

const noEnvironment: Environment = { literals: new Map(), names: [] };

/** An entry as a client wants it, and the names of variables that found no place in it. */
export function buildEntry(
  { shape, reference }: ClientRecord,
  key: string,
  launch: Launch,
  { literals, names }: Environment = noEnvironment,
): { entry: JsonRecord; leftOut: readonly string[] } {
  const entry: JsonRecord = {};
  if ("url" in launch) {
    if (shape.name !== undefined) entry[shape.name] = key;
    Object.assign(
      entry,
      shape.address?.first,
      { [shape.address?.key ?? "url"]: launch.url },
      shape.address?.last,
    );
    return { entry, leftOut: names };
  }
  Object.assign(entry, shape.first);
  if (shape.name !== undefined) entry[shape.name] = key;
  const command = shape.command ?? "command";
  if (shape.commandIsList) entry[command] = [launch.command, ...launch.args];
  else Object.assign(entry, { [command]: launch.command, args: [...launch.args] });
  const values: JsonRecord = Object.fromEntries(literals);
  if (reference !== undefined) {
    for (const name of names) values[name] = reference.replace("NAME", () => name);
  }
  if (Object.keys(values).length > 0) entry[shape.environment ?? "env"] = values;
  if (shape.passedNames !== undefined && names.length > 0) entry[shape.passedNames] = [...names];
  Object.assign(entry, shape.last);
  const hasPlace = reference !== undefined || shape.passedNames !== undefined;
  return { entry, leftOut: hasPlace ? [] : names };
}

/** The words of the command line that an entry has, whichever way its client writes them. */
function readWords({ shape }: ClientRecord, entry: Readonly<Record<string, unknown>>): unknown[] {
  const command = entry[shape.command ?? "command"];
  if (shape.commandIsList) return Array.isArray(command) ? command : [];
  return [command, ...(Array.isArray(entry.args) ? entry.args : [])];
}

/** Whether an entry is just what we would write for its command line; the environment may be any. */
function isOwnShape(client: ClientRecord, key: string, value: Readonly<Record<string, unknown>>): boolean {
  const [command, ...args] = readWords(client, value);
  const launch = { command: String(command), args: args.map(String) };
  const { entry } = buildEntry(client, key, launch);
  const { shape } = client;
  const given = { ...value };
  delete given[shape.environment ?? "env"];
  if (shape.passedNames !== undefined) delete given[shape.passedNames];
  return canonicalJson(given) === canonicalJson(entry);
}

/**
 * The server that an entry starts, if it is one that we would write for one of `clients`, on any machine: a
 * project's file is shared, and several clients may read it.
 */
export function matchEntry(
  clients: readonly ClientRecord[],
  key: string,
  value: unknown,
): string | undefined {
  if (!isRecord(value)) return undefined;
  for (const client of clients) {
    const server = findStartedServer(readWords(client, value));
    if (server !== undefined && isOwnShape(client, key, value)) return server;
  }
  return undefined;
}
