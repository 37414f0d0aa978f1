import { join } from "node:path";
import { parseConfig, readProjectConfig } from "../config/config-file.ts";
import { readConfig } from "../config/read-config.ts";
import { listServerEntries, type ServerEntry } from "../config/server-entries.ts";
import { isRecord } from "../data/parse-json.ts";
import { editConfigFile, findRealFile, readConfigFile } from "../files/edit.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure } from "../problems/index.ts";
import { ConfigDocument, loadEditor } from "./editing/config-document.ts";
import { ConfigSyntaxError, type EntryPlace, type JsonRecord } from "./editing/config-format.ts";
import { formatEntryDiff, hideEntry } from "./format-diff.ts";

/** An entry of `mcpServers` in the project's config to write. */
export interface EntryToWrite {
  label: string;
  entry: JsonRecord;
}

/** Which servers of the project's config to write and to remove. */
export interface ConfigChange {
  write?: readonly EntryToWrite[];
  /** Labels of `mcpServers`. */
  remove?: readonly string[];
}

/** A planned change of the project's config. */
export interface ConfigEdit {
  /** The file's name in the project's folder. */
  file: string;
  diff: string;
  /**
   * Writes the file. Throws `TrailblazeError` `ClientConfigUnwritable`, or `InvalidConfig` if it has changed meanwhile.
   */
  apply(): Promise<void>;
  /** Restores what `apply` replaced, unless the file has changed since. */
  undo(): Promise<void>;
}

/** The servers of the project's config. Throws `TrailblazeError` `InvalidConfig` for an invalid config. */
export async function readProjectServers(directory: string): Promise<ServerEntry[]> {
  const port = createNodeInspectionPort();
  await readConfig(port, { directory });
  const text = await readProjectConfig(port, directory);
  return listServerEntries(text?.value);
}

const placeOf = (label: string): EntryPlace => ({ container: ["mcpServers"], key: label, isList: false });

function edit(document: ConfigDocument, { write = [], remove = [] }: ConfigChange): ConfigDocument {
  let edited = document;
  for (const label of remove) edited = edited.remove(placeOf(label));
  for (const { label, entry } of write) edited = edited.set(placeOf(label), entry);
  return edited;
}

/** The place of a server in the project's config, as `FILE:LINE`. */
export async function locateServer(directory: string, { labelPath }: ServerEntry): Promise<string> {
  const text = await readProjectConfig(createNodeInspectionPort(), directory);
  if (text === undefined) return "";
  const locate = await text.source.createLocator();
  return `${text.file}:${locate?.(labelPath)?.line ?? 1}`;
}

/**
 * Plans a change of the config next to a project's package.json, which is made where there is none. Keeps comments, order
 * and layout. Throws `TrailblazeError` `InvalidConfig` if the config is invalid, or would be after the change, and
 * `ClientConfigUnwritable` with what to do by hand for a layout that the editor does not handle.
 */
export async function planConfigEdit(directory: string, change: ConfigChange): Promise<ConfigEdit> {
  const port = createNodeInspectionPort();
  await readProjectServers(directory);
  const source = await readProjectConfig(port, directory);
  const file = source?.file ?? "trailblaze.config.yaml";
  const editor = await loadEditor(file.endsWith(".json") ? "json" : "yaml");
  const realFile = findRealFile(join(directory, file));
  const before = readConfigFile(realFile);
  let document: ConfigDocument;
  let edited: ConfigDocument;
  try {
    document = new ConfigDocument(editor, before ?? "");
    edited = edit(document, change);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    const { reason } = error;
    const byHand = [
      ...(change.remove ?? []).map((label) => `remove ${JSON.stringify(label)}`),
      ...(change.write ?? []).map(({ label, entry }) => editor.writeInline(label, hideEntry(entry))),
    ];
    throw failure("ClientConfigUnwritable", { file, reason, byHand: byHand.join("\n") }, { file });
  }
  // A file without a value or a comment has nothing of the user's.
  const isUseless = change.remove !== undefined && edited.isBlank;
  const after = isUseless && before !== undefined ? undefined : edited.text;
  const { value } = await parseConfig(file, Buffer.from(edited.text));
  await readConfig(port, { directory, config: value ?? {} });
  const isSame = (before ?? "") === (after ?? "");
  const labels = [...(change.remove ?? []), ...(change.write ?? []).map(({ label }) => label)];
  const entryIn = (config: ConfigDocument, place: EntryPlace) => {
    const entry = config.get(place);
    return isRecord(entry) ? (entry as JsonRecord) : undefined;
  };
  const changes = labels.map(placeOf).map((place) => {
    return { place, before: entryIn(document, place), after: entryIn(edited, place) };
  });
  /** Replaces a text, or deletes the file. Resolves with false if the file has another one. */
  const replace = async (from: string | undefined, to: string | undefined) => {
    const decide = (text: string | undefined) => ({ isMet: text === from, text: text === from ? to : text });
    return (await editConfigFile(realFile, decide, { newMode: 0o644 })).decision.isMet;
  };
  let isApplied = false;
  return {
    file,
    diff: formatEntryDiff(file, editor, changes),
    async apply() {
      if (isSame) return;
      isApplied = await replace(before, after);
      if (!isApplied) throw failure("InvalidConfig", { reason: "another program has changed it" }, { file });
    },
    async undo() {
      // What another process has written stays, even if it is the same.
      if (isApplied) await replace(after, before);
    },
  };
}
