import { applyEdits, modify } from "jsonc-parser";
import { isRecord } from "../../data/parse-json.ts";
import { failure } from "../../problems/index.ts";

type Manifest = Readonly<Record<string, unknown>>;

/** A change of package.json: the path to a value, and the value. `undefined` as the last key appends to an array. */
export interface ManifestChange {
  path: readonly [string, string] | readonly [string];
  value: unknown;
  /** Whether it may replace a different value. */
  replaces?: boolean;
}

/** Whether `files` of package.json includes a path, as written or by one of its folders. */
function isPublished(files: readonly unknown[], path: string): boolean {
  return files.some((entry) => {
    if (typeof entry !== "string") return false;
    const plain = entry.replace(/^\.?\//, "").replace(/\/(?:\*\*?(?:\/\*)?)?$/, "");
    return plain === path || path.startsWith(`${plain}/`) || entry === "*" || entry === "**";
  });
}

/** What `files` must get so that npm publishes the paths; nothing if package.json has no `files`. */
export function publishFiles({ files }: Manifest, paths: readonly string[]): ManifestChange[] {
  if (!Array.isArray(files)) return [];
  const missing = paths.filter((path) => !isPublished(files, path));
  return missing.length === 0 ? [] : [{ path: ["files"], value: [...files, ...missing], replaces: true }];
}

function valueAt(manifest: Manifest, path: readonly string[]): unknown {
  let value: unknown = manifest;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/**
 * Changes package.json and keeps its formatting. Throws `ExportConflict` for a value that would be replaced, unless `force`
 * is set.
 */
export function editManifest(
  text: string,
  manifest: Manifest,
  changes: readonly ManifestChange[],
  force: boolean,
): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  let edited = text.slice(bom.length);
  const indentation = /^[^\n]*\n([ \t]+)/.exec(edited)?.[1] ?? "  ";
  const eol = edited.includes("\r\n") ? "\r\n" : "\n";
  const formattingOptions = {
    insertSpaces: !indentation.startsWith("\t"),
    tabSize: indentation.startsWith("\t") ? 1 : indentation.length,
    eol,
  };
  for (const { path, value, replaces = false } of changes) {
    const before = valueAt(manifest, path);
    if (JSON.stringify(before) === JSON.stringify(value)) continue;
    const file = "package.json";
    if (before !== undefined && !replaces && !force)
      throw failure("ExportConflict", { file, key: path.join(".") }, { file });
    // Arrays are appended to, so that their lines stay as they are.
    const added = Array.isArray(before) && Array.isArray(value) ? value.slice(before.length) : undefined;
    if (added === undefined)
      edited = applyEdits(edited, modify(edited, [...path], value, { formattingOptions }));
    else
      for (const one of added)
        edited = applyEdits(
          edited,
          modify(edited, [...path, -1], one, { formattingOptions, isArrayInsertion: true }),
        );
  }
  return bom + edited;
}
