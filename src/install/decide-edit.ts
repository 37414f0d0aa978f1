import { realpathSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createLineIndex } from "../data/line-index.ts";
import { isRecord } from "../data/parse-json.ts";
import { fileExists } from "../files/edit.ts";
import { failure } from "../problems/index.ts";
import type { ClientRecord } from "./clients/client.ts";
import { ConfigDocument } from "./editing/config-document.ts";
import {
  type ConfigEditor,
  ConfigLayoutError,
  ConfigSyntaxError,
  type EntryPlace,
  type JsonRecord,
  toPlain,
  valueAt,
} from "./editing/config-format.ts";
import { findStartFolder, matchEntry, mergeEntry } from "./entry.ts";
import { formatEntryDiff, hideEntry } from "./format-diff.ts";
import type { InstallPlan } from "./plan-install.ts";

/** The result of an edit. */
export interface EditDecision {
  changed: boolean;
  /** The file's new text; `undefined` to delete the file. Unchanged if nothing changes. */
  text: string | undefined;
  notes: string[];
  /** Unified diff of the entry without secrets; empty if nothing changes. */
  diff: string;
}

type Request = Pick<InstallPlan, "file" | "key" | "server" | "entry" | "force">;

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
function withoutName(value: unknown, isList: boolean): unknown {
  if (!isList || !isRecord(value)) return value;
  const { name: _, ...rest } = value;
  return rest;
}

/**
 * Opens a config and runs an edit. Throws a syntax error as `ClientConfigMalformed`, and a layout that the editor does not
 * handle as `ClientConfigUnwritable` with what to do by hand.
 */
function withConfig<Result>(
  file: string,
  editor: ConfigEditor,
  text: string | undefined,
  run: (config: ConfigDocument) => Result,
  byHand?: string,
): Result {
  try {
    return run(new ConfigDocument(editor, text ?? ""));
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const { reason, offset } = error;
    if (error instanceof ConfigLayoutError)
      throw failure("ClientConfigUnwritable", { file, reason, byHand }, { file });
    const body = (text ?? "").replace(/^\uFEFF/, "");
    const place = createLineIndex(body)(Math.min(offset, body.length));
    throw failure("ClientConfigMalformed", { file, reason }, { file, ...place });
  }
}

/** A server's name without a version range. */
function serverOf(reference: string | null | undefined): string | null | undefined {
  return reference === null ? null : reference?.replace(/@[^/]*(?=\/[^/]*$)/, "");
}

/** Whether a folder exists and is not the same as another. */
function isOtherFolder(folder: string, than: string): boolean {
  try {
    return realpathSync(folder) !== realpathSync(than);
  } catch {
    return fileExists(folder);
  }
}

/** The existing project in which an entry starts its server, if it is not the one that another entry is for. */
function findOtherProject(there: unknown, wanted: JsonRecord): string | undefined {
  const folder = isRecord(there) ? findStartFolder(there) : undefined;
  const than = findStartFolder(wanted);
  return folder !== undefined && than !== undefined && isOtherFolder(folder, than) ? folder : undefined;
}

/**
 * Decides on an edit of a client's file, given its current text. An entry is Trailblaze's by its command line. Throws
 * `TrailblazeError`: `ClientConfigMalformed`, `ClientConfigConflict`, `ClientConfigUnwritable`.
 */
export function decideEdit(
  client: ClientRecord,
  editor: ConfigEditor,
  request: Request,
  text: string | undefined,
): EditDecision {
  const { file, key, server, entry: wanted, force } = request;
  const isList = client.isList === true;
  const run = (config: ConfigDocument): EditDecision => {
    const place: EntryPlace = { container: chooseContainer(client, config), key, isList };
    const entry = withoutName(config.get(place), isList);
    const owner = serverOf(matchEntry(entry));
    const unchanged = (notes: string[] = []) => ({ changed: false, text, notes, diff: "" });
    const change = (edited: ConfigDocument, before?: JsonRecord, after?: JsonRecord): EditDecision => ({
      changed: true,
      text: after === undefined && edited.isBlank ? undefined : edited.text,
      notes: [],
      diff: formatEntryDiff(file, editor, [{ place, before, after }]),
    });

    if (wanted === null) {
      if (entry === undefined) return unchanged();
      if (owner === server) return change(config.remove(place), entry as JsonRecord);
      return unchanged([
        `Entry "${key}" in ${file} was kept, because Trailblaze did not write it for this server.`,
      ]);
    }

    if (entry === undefined) return change(config.set(place, wanted), undefined, wanted);
    if (isDeepStrictEqual(toPlain(entry), toPlain(wanted))) return unchanged();
    const project = owner === server ? findOtherProject(entry, wanted) : undefined;
    if (owner === server && project === undefined) {
      const merged = mergeEntry(client, entry as JsonRecord, wanted);
      if (isDeepStrictEqual(toPlain(entry), toPlain(merged))) return unchanged();
      return change(config.set(place, merged), entry as JsonRecord, merged);
    }
    if (!force) throw failure("ClientConfigConflict", { file, key, owner, project }, { file });
    // What another program wrote is not shown.
    const before = owner === undefined ? undefined : (entry as JsonRecord);
    return change(config.set(place, wanted), before, wanted);
  };
  const byHand =
    wanted === null
      ? `remove ${JSON.stringify(key)}`
      : editor.writeInline(key, hideEntry(isList ? { name: key, ...wanted } : wanted));
  return withConfig(file, editor, text, run, byHand);
}

/** An entry that Trailblaze wrote. */
export interface FoundEntry {
  key: string;
  /** `null` for a project's session. */
  server: string | null;
}

/** The entries of Trailblaze in a client's file. Throws `TrailblazeError` `ClientConfigMalformed`. */
export function findOwnEntries(
  client: ClientRecord,
  editor: ConfigEditor,
  file: string,
  text: string | undefined,
): FoundEntry[] {
  return withConfig(file, editor, text, (config) => {
    const isList = client.isList === true;
    return [...config.entries({ container: chooseContainer(client, config), isList })].flatMap(
      ([key, value]): FoundEntry[] => {
        const server = serverOf(matchEntry(value));
        return server === undefined ? [] : [{ key, server }];
      },
    );
  });
}
