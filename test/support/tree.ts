import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Path with "/" → content. A string or bytes are written as they are, anything else as JSON. */
export type Tree = Readonly<Record<string, unknown>>;

export const toContent = (value: unknown): string | Uint8Array =>
  typeof value === "string" || value instanceof Uint8Array ? value : `${JSON.stringify(value, null, 2)}\n`;

export function writeTree(folder: string, tree: Tree): void {
  for (const [path, value] of Object.entries(tree)) {
    if (value === undefined) continue;
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, toContent(value));
  }
}

/** The text of all files below a folder, if there is one. */
export function textIn(folder: string): string {
  if (!existsSync(folder)) return "";
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
}
