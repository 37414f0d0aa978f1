import { realpathSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { createLineIndex } from "../data/line-index.ts";
import { isRecord } from "../data/parse-json.ts";
import { readConfigFile } from "../files/edit.ts";
import { attempt } from "../files/file-errors.ts";
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
import { matchEntry, mergeEntry, type StartedServer } from "./entry.ts";
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

/** The existing project in which an entry starts its server, if it is not the one that another entry is for. */
function findOtherProject(there: StartedServer | undefined, wanted: JsonRecord): string | undefined {
  const than = matchEntry(wanted)?.folder;
  const folder = there?.folder;
  if (folder === undefined || than === undefined) return undefined;
  const [real, other] = [folder, than].map((path) => attempt(() => realpathSync(path)));
  return real === undefined || real === other ? undefined : folder;
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
    const started = matchEntry(entry);
    const isOwn = started?.server === server;
    if (wanted === null && entry !== undefined && !isOwn) {
      const note = `Entry "${key}" in ${file} was kept, because Trailblaze did not write it for this server.`;
      return { changed: false, text, notes: [note], diff: "" };
    }
    const project = isOwn && wanted !== null ? findOtherProject(started, wanted) : undefined;
    const isReplaced = entry !== undefined && wanted !== null && (!isOwn || project !== undefined);
    if (isReplaced && !force)
      throw failure("ClientConfigConflict", { file, key, owner: started?.server, project }, { file });
    // What another program wrote is not shown.
    const before = started === undefined ? undefined : (entry as JsonRecord);
    const isMerged = wanted !== null && before !== undefined && !isReplaced;
    const after = isMerged ? mergeEntry(client, before, wanted) : (wanted ?? undefined);
    if (isDeepStrictEqual(toPlain(entry), toPlain(after)))
      return { changed: false, text, notes: [], diff: "" };
    const edited = after === undefined ? config.remove(place) : config.set(place, after);
    return {
      changed: true,
      text: after === undefined && edited.isBlank ? undefined : edited.text,
      notes: [],
      diff: formatEntryDiff(file, editor, [{ place, before, after }]),
    };
  };
  const byHand =
    wanted === null
      ? `remove ${JSON.stringify(key)}`
      : editor.writeInline(key, hideEntry(isList ? { name: key, ...wanted } : wanted));
  return withConfig(file, editor, text, run, byHand);
}

/** The entries of Trailblaze in a client's file. Throws `TrailblazeError` `ClientConfigMalformed`. */
export const findOwnEntries = (
  client: ClientRecord,
  editor: ConfigEditor,
  file: string,
): Pick<InstallPlan, "file" | "key" | "server">[] =>
  withConfig(file, editor, readConfigFile(file), (config) => {
    const entries = config.entries({
      container: chooseContainer(client, config),
      isList: client.isList === true,
    });
    return [...entries].flatMap(([key, value]) => {
      const started = matchEntry(value);
      return started === undefined ? [] : [{ file, key, server: started.server }];
    });
  });
