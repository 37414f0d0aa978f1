import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import type { Scope } from "./clients/client.ts";
import type { ContainerTrace } from "./editing/config-document.ts";
import { canonicalJson, type JsonValue } from "./editing/config-value.ts";

/** An entry that Trailblaze wrote. */
export interface LedgerEntry {
  /** Absolute path of the file, symbolic links resolved. */
  file: string;
  client: string;
  scope: Scope;
  /** As in `InstallPlan`; `null` for the project's session. */
  server: string | null;
  container: readonly string[];
  key: string;
  /** Hash of the entry as written, ignoring order and formatting. */
  hash: string;
  /** The entry that `--force` replaced; uninstalling restores it. */
  replaced?: ReplacedEntry;
}

export interface ReplacedEntry {
  /** Its text, if it was contiguous. */
  raw?: string;
  value: JsonValue;
  /** Its own record, if Trailblaze wrote it. */
  entry?: LedgerEntry;
}

/** What to undo in a file when its last entry is removed. */
export interface LedgerFile {
  /** Whether Trailblaze created the file. */
  made: boolean;
  /** Folders that were created for it, innermost first. */
  folders: readonly string[];
  /** By container, as JSON. */
  traces: Readonly<Record<string, ContainerTrace>>;
}

/** The record of the entries that Trailblaze wrote into clients' configs. */
export interface Ledger {
  version: 1;
  entries: readonly LedgerEntry[];
  files: Readonly<Record<string, LedgerFile>>;
}

export const emptyLedger: Ledger = { version: 1, entries: [], files: {} };

/** A hash of an entry's contents, to detect edits. */
export function hashEntry(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function isEntry(value: unknown): value is LedgerEntry {
  if (!isRecord(value)) return false;
  if (value.server !== null && typeof value.server !== "string") return false;
  const texts = [value.file, value.client, value.scope, value.key, value.hash];
  return texts.every((text) => typeof text === "string") && Array.isArray(value.container);
}

function isFile(value: unknown): value is LedgerFile {
  return isRecord(value) && Array.isArray(value.folders) && isRecord(value.traces);
}

/**
 * Parses a ledger. Invalid records are dropped: an entry without a record is recognized by its contents, or kept as
 * foreign.
 */
export function parseLedger(text: string | undefined): Ledger {
  let value: unknown;
  try {
    value = JSON.parse(text ?? "");
  } catch {
    return emptyLedger;
  }
  if (!isRecord(value) || value.version !== 1) return emptyLedger;
  const entries = Array.isArray(value.entries) ? value.entries.filter(isEntry) : [];
  const files = isRecord(value.files) ? Object.entries(value.files) : [];
  return {
    version: 1,
    entries,
    files: Object.fromEntries(files.filter((file): file is [string, LedgerFile] => isFile(file[1]))),
  };
}

export const formatLedger = (ledger: Ledger): string => `${JSON.stringify(ledger, null, 2)}\n`;

const isSamePlace = (a: Pick<LedgerEntry, "file" | "container" | "key">, b: typeof a) =>
  a.file === b.file && a.key === b.key && canonicalJson(a.container) === canonicalJson(b.container);

export function findLedgerEntry(
  ledger: Ledger,
  place: Pick<LedgerEntry, "file" | "container" | "key">,
): LedgerEntry | undefined {
  return ledger.entries.find((entry) => isSamePlace(entry, place));
}

/** The ledger with the record of an entry added or replaced. */
export function withLedgerEntry(ledger: Ledger, entry: LedgerEntry): Ledger {
  return { ...ledger, entries: [...withoutLedgerEntry(ledger, entry).entries, entry] };
}

/** The ledger without an entry's record; the same ledger if it has none. */
export function withoutLedgerEntry(
  ledger: Ledger,
  place: Pick<LedgerEntry, "file" | "container" | "key">,
): Ledger {
  const entries = ledger.entries.filter((entry) => !isSamePlace(entry, place));
  return entries.length === ledger.entries.length ? ledger : { ...ledger, entries };
}

export function withLedgerFile(ledger: Ledger, file: string, facts: LedgerFile): Ledger {
  return { ...ledger, files: { ...ledger.files, [file]: facts } };
}

export function withoutLedgerFile(ledger: Ledger, file: string): Ledger {
  if (ledgerFileOf(ledger, file) === undefined) return ledger;
  return {
    ...ledger,
    files: Object.fromEntries(Object.entries(ledger.files).filter(([name]) => name !== file)),
  };
}

export const ledgerFileOf = (ledger: Ledger, file: string): LedgerFile | undefined =>
  Object.hasOwn(ledger.files, file) ? ledger.files[file] : undefined;
