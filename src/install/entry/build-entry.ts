import { isRecord } from "../../data/parse-json.ts";
import type { ClientRecord } from "../clients/client.ts";
import type { JsonRecord } from "../editing/config-format.ts";
import { findStartedServer, type Launch } from "./launch.ts";

export interface Environment {
  /** Values that are written to the file. */
  literals: ReadonlyMap<string, string>;
  /** Names of variables whose values are not written. */
  names: readonly string[];
}

const noEnvironment: Environment = { literals: new Map(), names: [] };

/** Builds an entry in the client's form. Also returns the variables that could not be included. */
export function buildEntry(
  { shape, reference }: ClientRecord,
  key: string,
  launch: Launch,
  { literals, names }: Environment = noEnvironment,
): { entry: JsonRecord; omitted: readonly string[] } {
  const entry: JsonRecord = {};
  if ("url" in launch) {
    if (shape.name !== undefined) entry[shape.name] = key;
    const { first, key: urlKey = "url", headers: headersKey, last } = shape.address ?? {};
    Object.assign(entry, first, { [urlKey]: launch.url });
    if (headersKey !== undefined && launch.headers !== undefined && Object.keys(launch.headers).length > 0)
      entry[headersKey] = { ...launch.headers };
    Object.assign(entry, last);
    return { entry, omitted: names };
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
  return { entry, omitted: hasPlace ? [] : names };
}

/** The command line of an entry, in the client's form. */
function readWords({ shape }: ClientRecord, entry: Readonly<Record<string, unknown>>): unknown[] {
  const command = entry[shape.command ?? "command"];
  if (shape.commandIsList) return Array.isArray(command) ? command : [];
  return [command, ...(Array.isArray(entry.args) ? entry.args : [])];
}

/**
 * An entry of Trailblaze with another launch. Keys that the client or the user added stay, such as `disabled`, `timeout` and
 * approvals.
 */
export function mergeEntry(
  { shape, reference }: ClientRecord,
  entry: JsonRecord,
  wanted: JsonRecord,
): JsonRecord {
  const { command = "command", environment = "env", passedNames, address } = shape;
  if ((entry[command] === undefined) !== (wanted[command] === undefined)) return wanted;
  const merged: JsonRecord = { ...entry };
  for (const key of [command, "args", environment, passedNames, address?.key, address?.headers]) {
    if (key === undefined) continue;
    const value = wanted[key];
    if (value !== undefined) merged[key] = value;
    // A client that shares the file may have references, which this one cannot write.
    else if (key !== environment || reference !== undefined || passedNames !== undefined) delete merged[key];
  }
  return merged;
}

/**
 * The server that an entry starts, `null` for the session, if its command line is one of Trailblaze's in the form of one of
 * `clients`. Project files are shared, and several clients may read one file.
 */
export function matchEntry(clients: readonly ClientRecord[], value: unknown): string | null | undefined {
  if (!isRecord(value)) return undefined;
  for (const client of clients) {
    const server = findStartedServer(readWords(client, value));
    if (server !== undefined) return server;
  }
  return undefined;
}
