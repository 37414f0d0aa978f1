import { lstatSync } from "node:fs";
import { join } from "node:path";
import { DataSyntaxError, decodeUtf8 } from "../data/decode.ts";
import { describeType, isRecord, maximumDepth } from "../data/parse-json.ts";
import { parseSource } from "../data/source-text.ts";
import { applyEdits } from "../files/edit.ts";
import { errorCode } from "../files/file-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { followLinks, readRegularFile, removeDrafts } from "../files/write-files.ts";
import { failure, quote, TrailblazeError } from "../problems/index.ts";
import { formatJson, hashJson, hashText } from "./canonical-json.ts";
import { hasOnlyDenials } from "./compare.ts";
import type { Json, LockedPack, LockedServer, LockFile } from "./types.ts";

export const lockFileName = "trailblaze.lock";

/** The lock of a project: next to its package.json. */
export const lockFileOf = (project: string) => join(project, lockFileName);

export const createLock = (): LockFile => ({ lockfileVersion: 1, packs: {}, servers: {} });

/** An entry of a pack, or of a server of the config. */
type Entry = LockedPack | LockedServer;

/** An entry without what models do not see. */
function surfaceOf(entry: Entry): Json {
  const { version: _, surface: __, denied: ___, ...seen } = entry;
  return seen as Json;
}

export const hashSurface = (entry: Entry): string => hashJson(surfaceOf(entry));

/** What is wrong with an entry that is not the one that its hash was made of. */
function explainSurface(entry: Entry): string | undefined {
  const seen = surfaceOf(entry);
  // Keys are sorted in the file, so that nearly always this is the canonical form already, and many times as fast.
  const fits = entry.surface === hashText(JSON.stringify(seen)) || entry.surface === hashJson(seen);
  return fits ? undefined : "does not fit its `surface`: it was edited or merged by hand";
}

/** The bytes of the file; `undefined` if it does not exist. Throws `LockMalformed`. */
function readBytes(file: string): Buffer | undefined {
  const refuse = (reason: string): never => {
    throw failure("LockMalformed", { file, reason }, { file });
  };
  try {
    const read = readRegularFile(file, refuse);
    return read === undefined && isLink(file) ? refuse("it cannot be read (ENOENT)") : read?.bytes;
  } catch (error) {
    if (error instanceof TrailblazeError) throw error;
    return refuse(`it cannot be read (${errorCode(error)})`);
  }
}

/** Whether a link is there, which may be dangling. */
const isLink = (file: string) => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** Checks the shapes that the rest of the program relies on. Yields what is wrong. */
function* findFaults(value: unknown): Generator<string> {
  if (!isRecord(value)) return yield `expected an object, found ${describeType(value)}`;
  const { lockfileVersion, packs, servers, ...others } = value;
  if (lockfileVersion !== 1)
    return yield `its \`lockfileVersion\` is ${describeVersion(lockfileVersion)}, not 1`;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) yield `it has the unknown key ${quote(unknown)}`;
  if (!isRecord(packs) || !isRecord(servers)) return yield "`packs` and `servers` must be objects";
  for (const [name, entry] of Object.entries(packs)) {
    const fault = explainPack(entry);
    if (fault !== undefined) yield `the entry of ${quote(name, 200)} ${fault}`;
  }
  for (const [name, entry] of Object.entries(servers)) {
    const fault = explainUserServer(entry);
    if (fault !== undefined) yield `the entry of ${quote(name, 200)} ${fault}`;
  }
}

const describeVersion = (version: unknown) =>
  typeof version === "number" ? String(version) : version === undefined ? "missing" : describeType(version);

const isRecordOfRecords = (value: unknown): boolean =>
  value === undefined || (isRecord(value) && Object.values(value).every(isRecord));

function explainServer(server: unknown): string | undefined {
  if (!isRecord(server)) return "is not an object";
  const { launch, lists, prompts, resources } = server;
  if (launch === undefined ? lists !== undefined : !isRecord(launch)) return "has an invalid `launch`";
  if (lists !== null && !isRecordOfRecords(lists)) return "has invalid `lists`";
  return isRecordOfRecords(prompts) && isRecordOfRecords(resources)
    ? undefined
    : "has invalid `prompts` or `resources`";
}

function explainDenied(entry: unknown): string | undefined {
  const denied = isRecord(entry) ? entry.denied : undefined;
  const isValid =
    denied === undefined || (Array.isArray(denied) && denied.every((one) => typeof one === "string"));
  return isValid ? undefined : "has an invalid `denied`";
}

/** What is wrong with the entry of a server of the config. One that was refused may have no launch. */
function explainUserServer(entry: unknown): string | undefined {
  const fault = explainServer(entry) ?? explainDenied(entry);
  if (fault !== undefined) return fault;
  const server = entry as LockedServer;
  if (server.launch === undefined) return hasOnlyDenials(server) ? undefined : "has no `launch`";
  return explainSurface(server);
}

/** What is wrong with the entry of a pack. */
function explainPack(entry: unknown): string | undefined {
  if (!isRecord(entry)) return "is not an object";
  const { version, needs, servers } = entry;
  if (version !== undefined && typeof version !== "string") return "has an invalid `version`";
  if (needs !== undefined && !isRecord(needs)) return "has invalid `needs`";
  for (const key of ["tools", "prompts", "toolsets", "resources"]) {
    if (!isRecordOfRecords(entry[key])) return `has invalid \`${key}\``;
  }
  if (servers !== undefined && !isRecord(servers)) return "has invalid `servers`";
  for (const server of Object.values(servers ?? {})) {
    const fault = explainServer(server);
    if (fault !== undefined) return fault;
  }
  const denied = explainDenied(entry);
  if (denied !== undefined) return denied;
  return explainSurface(entry as unknown as LockedPack);
}

const mergeMarkers = /^(?:<{7}|={7}|>{7})(?:\s|$)/m;

/** The error for a text that is not JSON. */
async function explainSyntax(file: string, error: DataSyntaxError): Promise<TrailblazeError> {
  const marker = error.text === undefined ? null : mergeMarkers.exec(error.text);
  if (marker !== null && error.text !== undefined) {
    const line = error.text.slice(0, marker.index).split("\n").length;
    return failure(
      "LockMalformed",
      {
        file,
        reason: "it has conflict markers of a merge",
        hint: "Run `git checkout --theirs trailblaze.lock && trailblaze approve`.",
      },
      { file, line, column: 1 },
    );
  }
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, line, column } = describeSyntaxError(error);
  return failure("LockMalformed", { file, reason }, { file, line, column });
}

/** How a line of a formatted text begins whose value may be nested deeper than `parseSource` accepts. */
const tooDeep = `\n${"  ".repeat(maximumDepth)}`;

/** The value of a text in the form of `formatLock`, which repeats no key; `undefined` for any other text. */
function parseFormatted(bytes: Uint8Array): unknown {
  try {
    const text = decodeUtf8(bytes);
    const value: unknown = JSON.parse(text);
    return `${JSON.stringify(value, null, 2)}\n` === text && !text.includes(tooDeep) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Throws `DataSyntaxError`. */
const parseLock = async (bytes: Uint8Array): Promise<unknown> =>
  parseFormatted(bytes) ?? (await parseSource("json", bytes)).value;

async function parse(file: string, bytes: Uint8Array): Promise<unknown> {
  try {
    return await parseLock(bytes);
  } catch (error) {
    throw error instanceof DataSyntaxError ? await explainSyntax(file, error) : error;
  }
}

function refuseLaterVersion(file: string, value: unknown): void {
  const version = isRecord(value) ? value.lockfileVersion : undefined;
  if (typeof version !== "number" || version <= 1) return;
  const reason = `it has lockfileVersion ${version}, which a later version of Trailblaze wrote`;
  throw failure("LockMalformed", { file, reason, hint: "Update Trailblaze." }, { file });
}

/**
 * Reads the lock of a project; `undefined` if there is none. Throws `TrailblazeError` `LockMalformed` for a file that is not
 * a valid lock: it is never treated as absent. Trust level: none is needed; its strings are not trusted.
 */
export async function readLock(project: string): Promise<LockFile | undefined> {
  const file = lockFileOf(project);
  const bytes = readBytes(file);
  if (bytes === undefined) return undefined;
  const value = await parse(file, bytes);
  refuseLaterVersion(file, value);
  const [reason] = findFaults(value);
  if (reason !== undefined) throw failure("LockMalformed", { file, reason }, { file });
  return value as unknown as LockFile;
}

/**
 * Reads what can be used of a lock that may be malformed: its valid entries. Throws `LockMalformed` for one of a later version.
 */
export async function readUsableEntries(project: string): Promise<LockFile> {
  const file = lockFileOf(project);
  const bytes = readBytes(file);
  const lock = createLock();
  if (bytes === undefined) return lock;
  let value: unknown;
  try {
    value = await parseLock(bytes);
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    return lock;
  }
  refuseLaterVersion(file, value);
  if (!isRecord(value)) return lock;
  const usable = <Entry>(entries: unknown, explain: (entry: unknown) => string | undefined) =>
    Object.fromEntries(
      Object.entries(isRecord(entries) ? entries : {}).filter(([, entry]) => explain(entry) === undefined),
    ) as Record<string, Entry>;
  lock.packs = usable(value.packs, explainPack);
  lock.servers = usable(value.servers, explainUserServer);
  return lock;
}

/** The text of a lock: the same contents give the same bytes. Sets `surface` of every entry. */
export function formatLock({ packs, servers }: LockFile): string {
  const withHashes = (entries: Readonly<Record<string, Entry>>) =>
    Object.fromEntries(
      Object.entries(entries).map(([name, entry]) => [name, { ...entry, surface: hashSurface(entry) }]),
    ) as Json;
  return `${formatJson({ lockfileVersion: 1, packs: withHashes(packs), servers: withHashes(servers) }, "")}\n`;
}

/**
 * Changes the lock of a project: reads it, replaces it atomically, and keeps changes that other processes made before.
 * `change` returns `undefined` to leave the file as it is. Resolves with whether it was written. Throws `LockMalformed`,
 * and `InvalidArguments` if the file cannot be written.
 */
export async function changeLock(
  project: string,
  change: (lock: LockFile | undefined) => LockFile | undefined,
): Promise<boolean> {
  const file = lockFileOf(project);
  const real = readBytes(file) === undefined ? file : followLinks(file);
  const release = await lockFile(real).catch((error: unknown) => {
    const reason = `${quote(file, 400)} cannot be locked: ${error instanceof Error ? error.message : String(error)}`;
    throw failure("InvalidArguments", { reason });
  });
  try {
    removeDrafts(real);
    const before = readBytes(file)?.toString();
    const changed = change(await readLock(project));
    if (changed === undefined) return false;
    const text = formatLock(changed);
    if (text === before) return false;
    applyEdits([{ file, before, after: text }]);
    return true;
  } finally {
    release();
  }
}
