import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
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

function valueAt(manifest: Manifest, path: readonly string[]): unknown {
  let value: unknown = manifest;
  for (const key of path) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A value as JSON, whose inner lines are indented like a property's. */
function formatValue(value: unknown, unit: string, eol: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${unit}`);
}

const replace = (text: string, { offset, length }: Node, written: string): string =>
  text.slice(0, offset) + written + text.slice(offset + length);

/** Adds a property or an element behind the last one, separated as that one is. Nothing else changes. */
function append(text: string, { type, children = [], offset, length }: Node, written: string): string {
  const last = children.at(-1);
  const end = last === undefined ? offset + 1 : last.offset + last.length;
  const [open, close] = type === "array" ? ["", ""] : [" ", " "];
  const before = /\s*$/.exec(text.slice(offset + 1, last?.offset ?? offset + 1))?.[0] ?? "";
  const added =
    last === undefined ? `${open}${written}${close}` : `,${before.includes("\n") ? before : " "}${written}`;
  return text.slice(0, end) + added + text.slice(last === undefined ? offset + length - 1 : end);
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
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  let edited = text.slice(mark.length);
  const unit = /^[^\n]*\n([ \t]+)/.exec(edited)?.[1] ?? "  ";
  const eol = edited.includes("\r\n") ? "\r\n" : "\n";
  for (const { path, value, replaces = false } of changes) {
    const before = valueAt(manifest, path);
    if (JSON.stringify(before) === JSON.stringify(value)) continue;
    const file = "package.json";
    if (before !== undefined && !replaces && !force)
      throw failure("ExportConflict", { file, key: path.join(".") }, { file });
    const root = parseTree(edited);
    const [key, inner] = path;
    const known = root && findNodeAtLocation(root, [...path]);
    const container = root && (inner === undefined ? root : findNodeAtLocation(root, [key]));
    const isOther = inner !== undefined && container !== undefined && container.type !== "object";
    if (isOther && container.type !== "null" && !force)
      throw failure("ExportConflict", { file, key }, { file });
    if (known !== undefined && Array.isArray(before) && Array.isArray(value)) {
      for (const one of value.slice(before.length)) {
        const list = findNodeAtLocation(parseTree(edited) as Node, [...path]) as Node;
        edited = append(edited, list, JSON.stringify(one));
      }
    } else if (isOther) edited = replace(edited, container, formatValue({ [inner]: value }, unit, eol));
    else if (known !== undefined) edited = replace(edited, known, formatValue(value, unit, eol));
    else if (container?.type === "object")
      edited = append(edited, container, `${JSON.stringify(path.at(-1))}: ${formatValue(value, unit, eol)}`);
    else if (root !== undefined && inner !== undefined)
      edited = append(edited, root, `${JSON.stringify(key)}: ${formatValue({ [inner]: value }, unit, eol)}`);
  }
  return mark + edited;
}
