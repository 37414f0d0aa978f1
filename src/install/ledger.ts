import { createHash } from "node:crypto";
import { isRecord } from "../data/parse-json.ts";
import type { Scope } from "./clients/client.ts";
import type { ContainerTrace } from "./editing/config-document.ts";
import { canonicalJson, type JsonValue } from "./editing/config-value.ts";

/** An entry that we wrote. */
export interface LedgerEntry {
  /** Absolute path of the file, symbolic links followed. */
  file: string;
  client: string;
  scope: Scope;
  /** Qualified name, or the short name of a server in the project's config. */
  server: string;
  container: readonly string[];
  key: string;
  /** Of the entry as it was written, order and spelling aside. */
  hash: string;
  /** What stood there before `--force`, and comes back. */
  replaced?: ReplacedEntry;
}

export interface ReplacedEntry {
  /** As it was written, if it stood in one place. */
  raw?: string;
  value: JsonValue;
  /** If that was ours too, what was known of it. */
  entry?: LedgerEntry;
}

/** What is to be undone in a file when the last of our entries goes. */
export interface LedgerFile {
  /** We made it. */
  made: boolean;
  /** Folders that we made for it, innermost first. */
  folders: readonly string[];
  /** By container, as JSON. */
  traces: Readonly<Record<string, ContainerTrace>>;
}

/** What we wrote into clients' configs, and where. */
export interface Ledger {
  version: 1;
  entries: readonly LedgerEntry[];
  files: Readonly<Record<string, LedgerFile>>;
}

export const emptyLedger: Ledger = { version: 1, entries: [], files: {} };

/** What tells an entry from one that was edited. */
export function hashEntry(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function isEntry(value: unknown): value is LedgerEntry {
  if (!isRecord(value)) return false;
  const texts = [value.file, value.client, value.scope, value.server, value.key, value.hash];
  return texts.every((text) => typeof text === "string") && Array.isArray(value.container);
}

function isFile(value: unknown): value is LedgerFile {
  return isRecord(value) && Array.isArray(value.folders) && isRecord(value.traces);
}

/**
 * Reads a ledger. What is not understood is dropped: an entry without a record is recognised by what it says, and kept
 * where it is not.
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

/** The ledger with an entry in the place of what it said of that place. */
export function withLedgerEntry(ledger: Ledger, entry: LedgerEntry): Ledger {
  return { ...ledger, entries: [...withoutLedgerEntry(ledger, entry).entries, entry] };
}

/** The ledger without an entry; the same one where it has none. */
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
