import { join } from "node:path";
import { parseConfig } from "../config/config-file.ts";
import { readConfig } from "../config/read-config.ts";
import { listServerEntries, type ServerEntry } from "../config/server-entries.ts";
import { createLocator } from "../data/source-text.ts";
import { editConfigFile, findRealFile, readConfigFile } from "../files/edit.ts";
import { createNodeInspectionPort } from "../files/node-inspection-port.ts";
import { failure } from "../problems/index.ts";
import { editEntries, loadEditor } from "./editing/config-document.ts";
import type { JsonRecord } from "./editing/config-format.ts";

/** An entry of `mcpServers` in the project's config to write. */
export interface EntryToWrite {
  label: string;
  entry: JsonRecord;
}

const port = createNodeInspectionPort();

/** The servers of the project's config. Throws `TrailblazeError` `InvalidConfig` for an invalid config. */
export async function readProjectServers(directory: string): Promise<ServerEntry[]> {
  const { text } = await readConfig(port, { directory });
  return listServerEntries(text?.value);
}

/** The place of a server in the project's config, as `FILE:LINE`. */
export async function locateServer(directory: string, { path }: ServerEntry): Promise<string> {
  const { text } = await readConfig(port, { directory });
  const locate = text && (await createLocator(text.source));
  return `${text?.file}:${locate?.(path)?.line ?? 1}`;
}

export type ConfigEdit = Awaited<ReturnType<typeof planConfigEdit>>;

/**
 * Plans a change of the config next to a project's package.json, which is made where there is none: writes entries of
 * `mcpServers`, or removes those without a value. Keeps comments, order and layout. Throws `TrailblazeError` `InvalidConfig` if
 * the config is invalid, or would be after the change, and `ClientConfigUnwritable` with what to do by hand for a layout that the
 * editor does not handle.
 */
export async function planConfigEdit(
  directory: string,
  entries: readonly (EntryToWrite | { label: string; entry: undefined })[],
) {
  const { text: source } = await readConfig(port, { directory });
  const file = source?.file ?? "trailblaze.config.yaml";
  const editor = await loadEditor(file.endsWith(".json") ? "json" : "yaml");
  const realFile = findRealFile(join(directory, file));
  const before = readConfigFile(realFile);
  const edited = editEntries(file, editor, before, (config) =>
    entries.map(({ label, entry }) => {
      const place = { container: ["mcpServers"], key: label, isList: false };
      return { place, before: config.get(place) as JsonRecord | undefined, after: entry };
    }),
  );
  const { text: after, diff } = edited;
  const { value } = await parseConfig(file, Buffer.from(after ?? ""));
  await readConfig(port, { directory, config: value ?? {} });
  return {
    /** The file's name in the project's folder. */
    file,
    diff,
    /** Writes the file. Throws `ClientConfigUnwritable`, or `InvalidConfig` if it has changed meanwhile. */
    async apply() {
      if (!edited.changed) return;
      const decide = (text: string | undefined) => {
        if (text === before) return { text: after };
        throw failure("InvalidConfig", { reason: "another program has changed it" }, { file });
      };
      await editConfigFile(realFile, decide, { newMode: 0o644 });
    },
  };
}
