import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../data/parse-json.ts";
import { type JsonValue, valueAt } from "../../install/editing/config-format.ts";
import { jsonEditor } from "../../install/editing/json-editor.ts";
import { failure } from "../../problems/index.ts";

type Manifest = Readonly<Record<string, unknown>>;

/** A change of package.json: the path to a value, and the value. */
export interface ManifestChange {
  path: readonly [string, string] | readonly [string];
  value: JsonValue;
  /** Whether it may replace a different value. */
  replaces?: boolean;
}

/** Whether `files` of package.json includes a path, as written or, if nothing is excluded, by one of its folders. */
function isPublished(files: readonly unknown[], path: string): boolean {
  const entries = files.filter((entry) => typeof entry === "string");
  const excludes = entries.some((entry) => entry.startsWith("!"));
  return entries.some((entry) => {
    const plain = entry.replace(/^\.?\//, "").replace(/\/(?:\*\*?(?:\/\*)?)?$/, "");
    return plain === path || (!excludes && (path.startsWith(`${plain}/`) || plain === "*" || plain === "**"));
  });
}

/** What `files` must get so that npm publishes the paths; nothing if package.json has no `files`. */
export function publishFiles({ files }: Manifest, paths: readonly string[]): ManifestChange[] {
  if (!Array.isArray(files)) return [];
  const missing = paths.filter((path) => !isPublished(files, path));
  return missing.length === 0 ? [] : [{ path: ["files"], value: [...files, ...missing], replaces: true }];
}

/**
 * Changes package.json and keeps the formatting of everything else. Throws `ExportConflict` for a value that would be
 * replaced, unless `force` is set.
 */
export function editManifest(
  text: string,
  manifest: Manifest,
  changes: readonly ManifestChange[],
  force: boolean,
): string {
  const file = "package.json";
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  let edited = text.slice(mark.length);
  const set = ([key, inner]: ManifestChange["path"], value: JsonValue) => {
    const place = inner === undefined ? { container: [], key } : { container: [key], key: inner };
    [edited = edited] = jsonEditor.open(edited).set({ ...place, isList: false }, value);
  };
  for (const { path, value, replaces = false } of changes) {
    const before = valueAt(manifest, path);
    if (isDeepStrictEqual(before, value)) continue;
    if (before !== undefined && !replaces && !force)
      throw failure("ExportConflict", { file, key: path.join(".") }, { file });
    const [key, inner] = path;
    const container = manifest[key];
    if (inner === undefined || container === undefined || isRecord(container)) set(path, value);
    else if (container === null || force) set([key], { [inner]: value });
    else throw failure("ExportConflict", { file, key }, { file });
  }
  return mark + edited;
}
