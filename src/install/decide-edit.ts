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
import { type EntryChange, formatEntryDiff, hideEntry } from "./format-diff.ts";
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

/**
 * Opens a config and uses it. Throws a syntax error as `ClientConfigMalformed`, and a layout that the editor does not
 * handle as `ClientConfigUnwritable` with what to do by hand.
 */
function withConfig<Result>(
  file: string,
  editor: ConfigEditor,
  text: string | undefined,
  use: (config: ConfigDocument) => Result,
  byHand?: () => string,
): Result {
  try {
    return use(new ConfigDocument(editor, text ?? ""));
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const { reason, offset } = error;
    if (error instanceof ConfigLayoutError)
      throw failure("ClientConfigUnwritable", { file, reason, byHand: byHand?.() }, { file });
    const body = (text ?? "").replace(/^\uFEFF/, "");
    const place = createLineIndex(body)(Math.min(offset, body.length));
    throw failure("ClientConfigMalformed", { file, reason }, { file, ...place });
  }
}

/**
 * Edits entries of a config, which `decide` chooses. The text is `undefined` if removing them leaves nothing. Throws
 * `TrailblazeError` `ClientConfigMalformed` or `ClientConfigUnwritable`.
 */
export function editEntries(
  file: string,
  editor: ConfigEditor,
  text: string | undefined,
  decide: (config: ConfigDocument) => readonly EntryChange[],
): { changed: boolean; text: string | undefined; diff: string } {
  let changes: readonly EntryChange[] = [];
  const edit = (config: ConfigDocument) => {
    changes = decide(config);
    if (changes.length === 0) return { changed: false, text, diff: "" };
    const edited = changes.reduce(
      (now, { place, after }) => (after === undefined ? now.remove(place) : now.set(place, after)),
      config,
    );
    const isGone = edited.isBlank && changes.every(({ after }) => after === undefined);
    return {
      changed: true,
      text: isGone ? undefined : edited.text,
      diff: formatEntryDiff(file, editor, changes),
    };
  };
  return withConfig(file, editor, text, edit, () => {
    const steps = changes.map(({ place: { key, isList }, after }) =>
      after === undefined
        ? `remove ${JSON.stringify(key)}`
        : editor.writeInline(key, hideEntry(isList ? { name: key, ...after } : after)),
    );
    return steps.join("\n");
  });
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
  const notes: string[] = [];
  const edited = editEntries(file, editor, text, (config) => {
    const place: EntryPlace = { container: chooseContainer(client, config), key, isList };
    const entry = config.get(place);
    const started = matchEntry(entry);
    const isOwn = started?.server === server;
    // What another program wrote is not shown.
    const before = started === undefined ? undefined : (entry as JsonRecord);
    if (wanted === null) {
      if (isOwn) return [{ place, before, after: undefined }];
      if (entry !== undefined)
        notes.push(
          `Entry "${key}" in ${file} was kept, because Trailblaze did not write it for this server.`,
        );
      return [];
    }
    const project = isOwn ? findOtherProject(started, wanted) : undefined;
    const isReplaced = entry !== undefined && (!isOwn || project !== undefined);
    if (isReplaced && !force)
      throw failure("ClientConfigConflict", { file, key, owner: started?.server, project }, { file });
    const after = before === undefined || isReplaced ? wanted : mergeEntry(client, before, wanted);
    const isSame = isDeepStrictEqual(toPlain(entry), toPlain(after));
    return isSame ? [] : [{ place, before, after }];
  });
  return { ...edited, notes };
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
