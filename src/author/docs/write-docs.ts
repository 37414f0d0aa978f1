import { join } from "node:path";
import { readTextFile, replaceTextFile } from "../../files/author-files.ts";
import { describePack } from "./describe-pack.ts";
import { replaceDocsSection } from "./docs-section.ts";
import { formatPackDocs } from "./format-pack.ts";

/** Writes the documentation of a new pack into its README, as `trailblaze docs --write README.md` does. */
export async function documentNewPack(directory: string): Promise<void> {
  const file = "README.md";
  const path = join(directory, file);
  const markdown = formatPackDocs(await describePack(undefined, { cwd: directory }), 2);
  replaceTextFile(path, replaceDocsSection(readTextFile(path) ?? "", markdown, file));
}
