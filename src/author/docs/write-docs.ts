import { join } from "node:path";
import { applyEdits, readTextFile } from "../../files/edit.ts";
import { describePack } from "./describe-pack.ts";
import { replaceDocsSection } from "./docs-section.ts";
import { formatPackDocs } from "./format-pack.ts";

/** Writes the documentation of a new pack into its README, as `trailblaze docs --write README.md` does. */
export async function documentNewPack(directory: string): Promise<void> {
  const file = "README.md";
  const path = join(directory, file);
  const before = readTextFile(path);
  const markdown = formatPackDocs(await describePack(undefined, { cwd: directory }), 2);
  applyEdits([{ file: path, before, after: replaceDocsSection(before ?? "", markdown, file) }]);
}
