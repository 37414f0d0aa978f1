import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { buildCatalog } from "../../catalog/catalog.ts";
import { applyEdits, isChange, isTaken, planEdit, readTextFile } from "../../files/edit.ts";
import { attempt } from "../../files/file-errors.ts";
import { failure, printable } from "../../problems/index.ts";
import { countOf } from "../../problems/text.ts";
import { openBrowser } from "../../sign-in/login.ts";
import { defineCommand } from "../command.ts";
import { inspectionOptions, readInspectionOptions } from "../inspection-options.ts";
import { flag, text } from "../options.ts";

export const command = defineCommand({
  summary: "Write a static site of the installed packs, without running them",
  usage: "",
  options: {
    out: text("DIR", "Write to this folder (required)"),
    title: text("TEXT", "Title of the site"),
    open: flag("Open the site in the browser"),
    ...inspectionOptions,
  },
  async run(input) {
    const { options, cwd } = input;
    const { out } = options;
    if (out === undefined) {
      const hint = "Run `trailblaze catalog --out site`.";
      throw failure("InvalidArguments", { reason: "`catalog` requires a folder", hint });
    }
    const folder = resolve(cwd, out);
    const inspection = { ...readInspectionOptions(input), title: options.title };
    const { files: texts, packs, problems } = await buildCatalog(inspection);
    const files = writeSite(folder, texts);
    const changed = files.some((file) => file.changed);
    const index = join(folder, "index.html");
    const opened = options.open ? await openBrowser(pathToFileURL(index).href) : undefined;
    const lines = [
      `${join(out, "index.html")} ${changed ? "now" : "already"} shows ${countOf(packs, "pack")}`,
    ];
    if (opened === false) lines.push("No program opened it. Open the file in a browser.");
    return {
      json: { folder, index, changed, files, packs, opened, problems },
      formatText: () => lines.map(printable).join("\n"),
    };
  },
});

/** The file that says which files of a folder are a catalog's. */
export const markerFile = ".trailblaze-catalog.json";

/** The index is replaced last. */
const siteFiles = ["catalog.json", "index.html"] as const;

const marker = `${JSON.stringify({ madeBy: "trailblaze catalog", files: siteFiles }, null, 2)}\n`;

/**
 * Makes a folder a catalog: writes those of its files that differ, all or none. Other files stay. `folder` is absolute. Throws
 * `TrailblazeError`: `CatalogFolderTaken` if the folder is not ours, and `InvalidArguments` if it cannot be written.
 */
export function writeSite(
  folder: string,
  texts: Record<(typeof siteFiles)[number], string>,
): { file: string; changed: boolean }[] {
  const taken = (reason: string) => failure("CatalogFolderTaken", { folder, reason });
  const readMarker = () => readTextFile(join(folder, markerFile));
  // Git may have changed the line ends.
  if (isTaken(folder) && attempt(readMarker)?.replaceAll("\r", "") !== marker)
    throw taken("it is not an empty folder");
  for (const file of siteFiles)
    if (lstatSync(join(folder, file), { throwIfNoEntry: false })?.isFile() === false)
      throw taken(`its \`${file}\` is not a file`);
  const edits = siteFiles.map((file) => planEdit(join(folder, file), texts[file]));
  applyEdits([planEdit(join(folder, markerFile), marker), ...edits]);
  return edits.map((edit, index) => ({ file: siteFiles[index] ?? "", changed: isChange(edit) }));
}
