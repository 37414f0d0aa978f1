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
import { formatEntryDiff } from "./format-diff.ts";
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

/** A file when an edit of it is decided. */
export interface CurrentFile {
  /** Absolute, symbolic links resolved: the path in the ledger. */
  realFile: string;
  /** `undefined` if the file does not exist. */
  text: string | undefined;
  /** The parsed text, or the error if it is invalid. */
  config: ConfigDocument | ConfigSyntaxError;
  ledger: Ledger;
  /** Folders that were just created for it, innermost first. */
  madeFolders: readonly string[];
  /** Whether a folder exists and is not the same as another. */
  isOtherFolder(folder: string, than: string): boolean;
}

/** The result of an edit. */
export interface EditDecision {
  changed: boolean;
  /** The file's new text; `undefined` to remove the file. Unchanged if nothing changes. */
  text: string | undefined;
  ledger: Ledger;
  notes: string[];
}

/** An edit for people. */
export interface ShownEdit extends EditDecision {
  /** Unified diff without secrets; empty if nothing changes. */
  diff: string;
}

type Request = Pick<InstallPlan, "file" | "key" | "server" | "scope" | "edit">;

/** The place of an entry in a config. */
const findPlace = (client: ClientRecord, config: ConfigDocument, key: string): EntryPlace => ({
  container: chooseContainer(client, config),
  key,
  isList: client.isList === true,
});

/** Chooses the container that a config uses among those that its client reads. */
function chooseContainer(
  { newerContainer, container }: ClientRecord,
  { root }: ConfigDocument,
): readonly string[] {
  if (newerContainer === undefined) return container;
  const newer = valueAt(root, newerContainer);
  // An entry in the older container may have the name of the newer container.
  const isEntry =
    isRecord(newer) &&
    (typeof newer.type === "string" || typeof newer.command === "string" || Array.isArray(newer.command));
  return isRecord(newer) && !isEntry ? newerContainer : container;
}

/** The entry without the name that an array of entries repeats in it. */
function withoutName(value: unknown, { isList }: Pick<EntryPlace, "isList">): unknown {
  if (!isList || !isRecord(value)) return value;
  const { name: _, ...rest } = value;
  return rest;
}

/** Runs an edit of a config. Throws a syntax error as `ClientConfigMalformed`. */
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
    const reason = tooDeep ? "it is nested too deeply" : error.reason;
    const body = text.replace(/^\uFEFF/, "");
    const place = createLineIndex(body)(tooDeep ? 0 : Math.min(error.offset, body.length));
    throw failure("ClientConfigMalformed", { file, reason }, { file, ...place });
  }
}

/** A server's name without a version range. */
function serverOf(reference: string | null | undefined): string | null | undefined {
  return reference === null ? null : reference?.replace(/@[^/]*(?=\/[^/]*$)/, "");
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
    this.#place = findPlace(client, config, request.key);
    const { container } = this.#place;
    this.#entry = withoutName(config.get(this.#place), this.#place);
    const record = findLedgerEntry(current.ledger, { file: current.realFile, container, key: request.key });
    // The process that wrote the record may have exited before it wrote the file.
    const isVoid = record?.replaced !== undefined && hashEntry(record.replaced.value) === this.#hash;
    this.#record = isVoid ? undefined : record;
  }

  get #hash(): string {
    return hashEntry(this.#entry);
  }

  /** Whether the file has any entry of Trailblaze. Otherwise, the ledger's records of the file are outdated. */
  get #hasOwnEntries(): boolean {
    const { realFile, ledger } = this.#current;
    const { isList } = this.#place;
    return ledger.entries.some(
      ({ file, container, key }) => file === realFile && this.#config.has({ container, key, isList }),
    );
  }

  get #recognized(): string | null | undefined {
    return serverOf(matchEntry(findReaders(this.#client), this.#request.key, this.#entry));
  }

  #unchanged(notes: string[] = [], ledger = this.#current.ledger): EditDecision {
    return { changed: false, text: this.#current.text, ledger, notes };
  }

  #fail(code: "ClientConfigModified"): never;
  #fail(code: "ClientConfigConflict", owner: string | null | undefined, project: string | undefined): never;
  #fail(
    code: "ClientConfigModified" | "ClientConfigConflict",
    owner?: string | null,
    project?: string,
  ): never {
    const { file, key } = this.#request;
    if (code === "ClientConfigModified") throw failure(code, { file, key }, { file });
    throw failure(code, { file, key, owner, project }, { file });
  }

  /** The existing project in which the entry starts its server, if it is not the one that `entry` is for. */
  #findOtherProject(entry: JsonRecord): string | undefined {
    const [there, wanted] = [
      isRecord(this.#entry) ? findStartFolder(this.#entry) : undefined,
      findStartFolder(entry),
    ];
    if (there === undefined || wanted === undefined) return undefined;
    return this.#current.isOtherFolder(there, wanted) ? there : undefined;
  }

  /** Whether the entry is as Trailblaze wrote it, for any server. */
  get #isIntact(): boolean {
    return this.#record?.hash === this.#hash;
  }

  /**
   * Who wrote the entry to replace: Trailblaze for this server (`same`, also for a deleted project), Trailblaze for another
   * server or another existing project (`ours`), or another program (`foreign`).
   */
  #checkOwner(entry: JsonRecord, force: boolean): "same" | "ours" | "foreign" {
    const { server } = this.#request;
    const owner = this.#record === undefined ? this.#recognized : this.#record.server;
    const isOfServer = owner === server;
    if (isOfServer && this.#record !== undefined && !this.#isIntact) {
      if (!force) this.#fail("ClientConfigModified");
      // An edited entry still starts this server. Any other entry is foreign, although Trailblaze used its name before.
      return this.#recognized === server ? "same" : "foreign";
    }
    const otherProject = isOfServer ? this.#findOtherProject(entry) : undefined;
    if (isOfServer && otherProject === undefined) return "same";
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
    // Several clients may read one file and share its entries.
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
    // A file with a foreign entry must not be removed.
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
      const note = `Entry "${key}" in ${file} was kept, because Trailblaze did not write it for this server.`;
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

  /** The entry if Trailblaze wrote it; the others of the file are not shown. */
  get shownEntry(): JsonRecord | undefined {
    const isOwn = this.#record !== undefined || this.#recognized !== undefined;
    return isOwn && isRecord(this.#entry) ? (this.#entry as JsonRecord) : undefined;
  }

  formatDiff(after: JsonRecord | undefined): string {
    const change = { place: this.#place, before: this.shownEntry, after };
    return formatEntryDiff(this.#request.file, this.#config.editor, [change]);
  }

  /** Removes the record of a file without entries. */
  #forgetFile(ledger: Ledger): Ledger {
    const { realFile } = this.#current;
    return ledger.entries.some(({ file }) => file === realFile)
      ? ledger
      : withoutLedgerFile(ledger, realFile);
  }
}

/**
 * Decides on an edit, given the current file and ledger. Throws `TrailblazeError`: `ClientConfigMalformed`,
 * `ClientConfigConflict`, `ClientConfigModified`.
 */
export function decideEdit(client: ClientRecord, request: Request, current: CurrentFile): ShownEdit {
  return refuseMalformed(request.file, current, (config) => {
    const edit = new Edit(client, config, request, current);
    const { edit: planned } = request;
    const decision =
      planned.action === "install"
        ? edit.install(planned.entry, planned.force)
        : edit.uninstall(planned.force);
    return {
      ...decision,
      diff: decision.changed ? edit.formatDiff(planned.action === "install" ? planned.entry : undefined) : "",
    };
  });
}

/** An entry of a server. */
export interface FoundEntry {
  key: string;
  server: string | null;
}

/**
 * The entries of a server in a file: by the ledger, otherwise by their contents. Throws `TrailblazeError`
 * `ClientConfigMalformed`.
 */
export function findEntriesOf(
  client: ClientRecord,
  file: string,
  isMeant: (server: string | null, key: string) => boolean,
  current: CurrentFile,
): FoundEntry[] {
  return refuseMalformed(file, current, (config) => {
    const { realFile, ledger } = current;
    const container = chooseContainer(client, config);
    const isList = client.isList === true;
    const entries = config.entries({ container, isList });
    const isGone = (key: string) => !entries.has(key);
    const recorded = ledger.entries.filter(
      (entry) =>
        entry.file === realFile &&
        isMeant(entry.server, entry.key) &&
        isDeepStrictEqual(entry.container, container) &&
        !isGone(entry.key),
    );
    if (recorded.length > 0) return recorded.map(({ key, server }) => ({ key, server }));
    const readers = findReaders(client);
    return [...entries].flatMap(([key, value]) => {
      const server = serverOf(matchEntry(readers, key, withoutName(value, { isList })));
      return server !== undefined && isMeant(server, key) ? [{ key, server }] : [];
    });
  });
}
