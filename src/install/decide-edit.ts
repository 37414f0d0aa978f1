import { isDeepStrictEqual } from "node:util";
import { createLineIndex } from "../data/decode.ts";
import { isRecord } from "../data/parse-json.ts";
import { failure, TrailblazeError } from "../problems/index.ts";
import type { ClientRecord } from "./clients/client.ts";
import { findReaders } from "./clients/index.ts";
import { type ConfigDocument, isEmptyValue } from "./editing/config-document.ts";
import { ConfigSyntaxError, type EntryPlace } from "./editing/config-format.ts";
import { type JsonRecord, type JsonValue, valueAt } from "./editing/config-value.ts";
import { matchEntry } from "./entry/build-entry.ts";
import { findStartFolder } from "./entry/launch.ts";
import {
  findLedgerEntry,
  hashEntry,
  type Ledger,
  type LedgerEntry,
  ledgerFileOf,
  type ReplacedEntry,
  withLedgerEntry,
  withLedgerFile,
  withoutLedgerEntry,
  withoutLedgerFile,
} from "./ledger.ts";
import type { InstallPlan } from "./plan.ts";

/** A file as it is when an edit is decided. */
export interface CurrentFile {
  /** Absolute, symbolic links followed: what the ledger knows it by. */
  realFile: string;
  /** `undefined` where there is none. */
  text: string | undefined;
  /** What the text holds, or why it cannot be used. */
  config: ConfigDocument | ConfigSyntaxError;
  ledger: Ledger;
  /** Folders that were made for it just now, innermost first. */
  madeFolders: readonly string[];
  /** Whether a folder is there and not the same as another. */
  isOtherFolder(folder: string, than: string): boolean;
}

/** What an edit comes to. */
export interface EditDecision {
  changed: boolean;
  /** The file's new text; `undefined` where it is to be removed. The same as before where nothing changes. */
  text: string | undefined;
  ledger: Ledger;
  notes: string[];
}

type Request = Pick<InstallPlan, "file" | "key" | "server" | "scope" | "edit">;

/** The container that a config has, of those that its client reads. */
function chooseContainer(
  { newerContainer, container }: ClientRecord,
  { root }: ConfigDocument,
): readonly string[] {
  if (newerContainer === undefined) return container;
  const newer = valueAt(root, newerContainer);
  // An entry of the older form may have the very name of the newer container.
  const isEntry =
    isRecord(newer) &&
    (typeof newer.type === "string" || typeof newer.command === "string" || Array.isArray(newer.command));
  return isRecord(newer) && !isEntry ? newerContainer : container;
}

/** The entry without the key that a list repeats in it. */
function withoutName(value: unknown, { isList }: Pick<EntryPlace, "isList">): unknown {
  if (!isList || !isRecord(value)) return value;
  const { name: _, ...rest } = value;
  return rest;
}

/** Runs an edit of a config; what is wrong with that becomes the problem that people see. */
function refuseMalformed<Result>(
  file: string,
  { text = "", config }: CurrentFile,
  run: (config: ConfigDocument) => Result,
): Result {
  try {
    if (config instanceof ConfigSyntaxError) throw config;
    return run(config);
  } catch (error) {
    if (error instanceof TrailblazeError) throw error;
    const tooDeep = error instanceof RangeError;
    if (!(error instanceof ConfigSyntaxError) && !tooDeep) throw error;
    const reason = tooDeep ? "it nests too deep" : error.reason;
    const body = text.replace(/^\uFEFF/, "");
    const place = createLineIndex(body)(tooDeep ? 0 : Math.min(error.offset, body.length));
    throw failure("ClientConfigMalformed", { file, reason }, { file, ...place });
  }
}

/** A server's name without the range that an entry may ask for. */
function serverOf(reference: string | undefined): string | undefined {
  return reference?.replace(/@[^/]*(?=\/[^/]*$)/, "");
}

class Edit {
  readonly #client: ClientRecord;
  readonly #config: ConfigDocument;
  readonly #request: Request;
  readonly #current: CurrentFile;
  readonly #place: EntryPlace;
  readonly #entry: unknown;
  readonly #record: LedgerEntry | undefined;

  constructor(client: ClientRecord, config: ConfigDocument, request: Request, current: CurrentFile) {
    this.#client = client;
    this.#config = config;
    this.#request = request;
    this.#current = current;
    const container = chooseContainer(client, config);
    this.#place = { container, key: request.key, isList: client.isList === true };
    this.#entry = withoutName(config.get(this.#place), this.#place);
    const record = findLedgerEntry(current.ledger, { file: current.realFile, container, key: request.key });
    // The process that wrote the record may have ended before it wrote the file.
    const isVoid = record?.replaced !== undefined && hashEntry(record.replaced.value) === this.#hash;
    this.#record = isVoid ? undefined : record;
  }

  get #hash(): string {
    return hashEntry(this.#entry);
  }

  /** Whether anything of ours is in the file; else what is known of it is about a file of the past. */
  get #hasOwnEntries(): boolean {
    const { realFile, ledger } = this.#current;
    const { isList } = this.#place;
    return ledger.entries.some(
      ({ file, container, key }) => file === realFile && this.#config.has({ container, key, isList }),
    );
  }

  get #recognized(): string | undefined {
    return serverOf(matchEntry(findReaders(this.#client), this.#request.key, this.#entry));
  }

  #unchanged(notes: string[] = [], ledger = this.#current.ledger): EditDecision {
    return { changed: false, text: this.#current.text, ledger, notes };
  }

  #fail(code: "ClientConfigModified"): never;
  #fail(code: "ClientConfigConflict", owner: string | undefined, project: string | undefined): never;
  #fail(code: "ClientConfigModified" | "ClientConfigConflict", owner?: string, project?: string): never {
    const { file, key } = this.#request;
    if (code === "ClientConfigModified") throw failure(code, { file, key }, { file });
    throw failure(code, { file, key, owner, project }, { file });
  }

  /** The project in which the entry starts its server, if it is there and not the one that `entry` is for. */
  #findOtherProject(entry: JsonRecord): string | undefined {
    const [there, wanted] = [
      isRecord(this.#entry) ? findStartFolder(this.#entry) : undefined,
      findStartFolder(entry),
    ];
    if (there === undefined || wanted === undefined) return undefined;
    return this.#current.isOtherFolder(there, wanted) ? there : undefined;
  }

  /** Whether the entry is as we wrote it, for whichever server. */
  get #isIntact(): boolean {
    return this.#record?.hash === this.#hash;
  }

  /**
   * Whose the entry is that another is to take the place of: our own for this server, also of a project that is gone;
   * ours for another one, a project's that is still there among them; or foreign.
   */
  #checkOwner(entry: JsonRecord, force: boolean): "same" | "ours" | "foreign" {
    const { server } = this.#request;
    const isOfServer = (this.#record?.server ?? this.#recognized) === server;
    if (isOfServer && this.#record !== undefined && !this.#isIntact) {
      if (!force) this.#fail("ClientConfigModified");
      // An edited entry still starts our server; one that does not is foreign, under a name that was ours.
      return this.#recognized === server ? "same" : "foreign";
    }
    const otherProject = isOfServer ? this.#findOtherProject(entry) : undefined;
    if (isOfServer && otherProject === undefined) return "same";
    const owner = this.#record?.server ?? this.#recognized;
    if (!force) this.#fail("ClientConfigConflict", owner, otherProject);
    return this.#isIntact ? "ours" : "foreign";
  }

  install(entry: JsonRecord, force: boolean): EditDecision {
    const { realFile, ledger } = this.#current;
    const { server, scope, key } = this.#request;
    const { container } = this.#place;
    const record: LedgerEntry = {
      file: realFile,
      client: this.#client.id,
      scope,
      server,
      container,
      key,
      hash: hashEntry(entry),
    };
    if (this.#entry === undefined) {
      const { text } = this.#config.set(this.#place, entry);
      const facts = ledgerFileOf(ledger, realFile);
      const isKnown = facts !== undefined && this.#hasOwnEntries;
      const isLaid = !isEmptyValue(valueAt(this.#config.root, container));
      const trace = this.#config.traceContainer(container);
      const traces = isKnown && isLaid ? {} : { [JSON.stringify(container)]: trace };
      const withFile = withLedgerFile(ledger, realFile, {
        made: this.#current.text === undefined || (isKnown && facts.made),
        folders: [...this.#current.madeFolders, ...(facts?.folders ?? [])],
        traces: { ...(isKnown ? facts.traces : {}), ...traces },
      });
      return { changed: true, text, ledger: withLedgerEntry(withFile, record), notes: [] };
    }
    if (this.#hash === hashEntry(entry)) return this.#unchanged();
    // Several clients may read one file: what was written for one of them serves the others.
    const { server: owner, client: writer, hash } = this.#record ?? {};
    if (owner === server && writer !== this.#client.id && hash === this.#hash) return this.#unchanged();
    const ownership = this.#checkOwner(entry, force);
    const { text } = this.#config.set(this.#place, entry);
    const raw = this.#config.rawOf(this.#place);
    const before: ReplacedEntry | undefined =
      ownership === "same"
        ? this.#record?.replaced
        : {
            ...(raw === undefined ? {} : { raw }),
            value: this.#entry as JsonValue,
            ...(this.#record === undefined || (ownership === "foreign" && this.#record.server === server)
              ? {}
              : { entry: this.#record }),
          };
    const replaced = before === undefined ? record : { ...record, replaced: before };
    const facts = ledgerFileOf(ledger, realFile);
    // A file with a foreign entry in it is no longer ours to remove.
    const known =
      ownership === "foreign" && facts !== undefined
        ? withLedgerFile(ledger, realFile, { ...facts, made: false })
        : ledger;
    return { changed: true, text, ledger: withLedgerEntry(known, replaced), notes: [] };
  }

  uninstall(force: boolean): EditDecision {
    const { realFile, ledger } = this.#current;
    const { key, server, file } = this.#request;
    const { container } = this.#place;
    const without = withoutLedgerEntry(ledger, { file: realFile, container, key });
    if (this.#entry === undefined) return this.#unchanged([], this.#forgetFile(without));
    const isOurs =
      this.#record?.server === server || (this.#record === undefined && this.#recognized === server);
    if (!isOurs) {
      const note = `${file} has an entry "${key}", but Trailblaze did not write it for this server; it was kept.`;
      return this.#unchanged([note]);
    }
    if (this.#record !== undefined && this.#record.hash !== this.#hash && !force)
      this.#fail("ClientConfigModified");
    const replaced = this.#record?.replaced;
    if (replaced !== undefined) {
      const { text } = this.#config.putBack(this.#place, replaced);
      const then = replaced.entry === undefined ? without : withLedgerEntry(without, replaced.entry);
      return { changed: true, text, ledger: this.#forgetFile(then), notes: [] };
    }
    const facts = ledgerFileOf(ledger, realFile);
    const trace = facts?.traces[JSON.stringify(container)];
    const removed = this.#config.remove(this.#place, trace);
    const isLast = !without.entries.some((entry) => entry.file === realFile);
    const isUseless = facts?.made === true && isLast && removed.isEmpty(container);
    const noComment = /^[\s{}[\]:",\w.-]*$/.test(removed.text);
    return {
      changed: true,
      text: isUseless && noComment ? undefined : removed.text,
      ledger: this.#forgetFile(without),
      notes: [],
    };
  }

  /** What is known of a file is of no use without entries in it. */
  #forgetFile(ledger: Ledger): Ledger {
    const { realFile } = this.#current;
    return ledger.entries.some(({ file }) => file === realFile)
      ? ledger
      : withoutLedgerFile(ledger, realFile);
  }
}

/**
 * Decides what an edit comes to, given the file and the ledger as they are. Throws `TrailblazeError`
 * `ClientConfigMalformed`, `ClientConfigConflict`, `ClientConfigModified`.
 */
export function decideEdit(client: ClientRecord, request: Request, current: CurrentFile): EditDecision {
  return refuseMalformed(request.file, current, (config) => {
    const edit = new Edit(client, config, request, current);
    const { edit: planned } = request;
    return planned.action === "install"
      ? edit.install(planned.entry, planned.force)
      : edit.uninstall(planned.force);
  });
}

/**
 * The keys under which a file has a server's entries: by the ledger, else by what entries say. Throws `TrailblazeError`
 * `ClientConfigMalformed`.
 */
export function findKeysOf(
  client: ClientRecord,
  { file, server }: Pick<InstallPlan, "file" | "server">,
  current: CurrentFile,
): string[] {
  return refuseMalformed(file, current, (config) => {
    const { realFile, ledger } = current;
    const container = chooseContainer(client, config);
    const isList = client.isList === true;
    const entries = config.entries({ container, isList });
    const isGone = (key: string) => !entries.has(key);
    const recorded = ledger.entries.filter(
      (entry) =>
        entry.file === realFile &&
        entry.server === server &&
        isDeepStrictEqual(entry.container, container) &&
        !isGone(entry.key),
    );
    if (recorded.length > 0) return recorded.map(({ key }) => key);
    const readers = findReaders(client);
    return [...entries]
      .filter(([key, value]) => serverOf(matchEntry(readers, key, withoutName(value, { isList }))) === server)
      .map(([key]) => key);
  });
}
