import { quote } from "../../problems/index.ts";
import type { ModuleFiles } from "./module-files.ts";

/** Whether a module has an export, or why it does not or cannot be determined. */
export type ExportSearch =
  | "found"
  /** `module` is where it was searched last; `hint` replaces the list of exports. */
  | { absent: string; module: string; hint?: string }
  | { unclear: string };

/**
 * Finds an export of a module, also in the modules of the package whose exports it re-exports as a whole. What another
 * module exports under a name that is re-exported is not checked. Does not run the modules.
 */
export async function findExport(
  files: ModuleFiles,
  file: string,
  name: string,
  seen: Set<string> = new Set(),
): Promise<ExportSearch> {
  const what = name === "default" ? "default export" : `export ${quote(name)}`;
  const missing = { absent: `${quote(file)} has no ${what}`, module: file };
  if (seen.has(file)) return missing;
  seen.add(file);
  const module = await files.get(file);
  const text = files.textOf(file);
  switch (module.kind) {
    case "absent":
      return { absent: `the package has no file ${quote(file)}`, module: file };
    case "outside":
      return { unclear: `${quote(file)} is outside the package` };
    case "broken": {
      const { line, column } = module.fault ?? {};
      const place = [file, line, column].filter((part) => part !== undefined).join(":");
      const hint = module.hint ?? hintForCheck(file);
      return { absent: `${quote(place, 200)} ${module.why}`, module: file, hint };
    }
    case "typescript":
      return exportsInTypeScript(text, name) ? { unclear: `${quote(file)} is TypeScript` } : missing;
    case "opaque":
      return { unclear: `${quote(file)} ${module.why}` };
    case "foreign":
      return { unclear: `${quote(file)} defines it` };
  }
  const isCommonJs = module.kind === "commonjs";
  if (module.names.has(name) || (isCommonJs && name === "default")) return "found";
  const single = isCommonJs ? undefined : module.reexports.get(name);
  let result: ExportSearch = missing;
  // `export *` leaves out the default export.
  for (const from of single === undefined ? (name === "default" ? [] : module.stars) : [single]) {
    const target = files.resolve(file, from, module.kind);
    if ("elsewhere" in target)
      result = { unclear: `${quote(file)} re-exports it from ${quote(target.elsewhere)}` };
    else if (single !== undefined && (await files.get(target.file)).kind !== "absent") return "found";
    else {
      const found = await findExport(files, target.file, name, seen);
      if (found === "found") return found;
      const isAbsent = (await files.get(target.file)).kind === "absent";
      if ("unclear" in found || (isAbsent && !("unclear" in result))) result = found;
    }
  }
  const mayCreate = isCommonJs && (module.isOpen || hasWord(text, name));
  return mayCreate && !("unclear" in result)
    ? { unclear: `${quote(file)} may create its exports at run time` }
    : result;
}

/** The known exports of a module, for suggestions. */
export async function listExports(
  files: ModuleFiles,
  file: string,
  seen: Set<string> = new Set(),
): Promise<string[]> {
  if (seen.has(file)) return [];
  seen.add(file);
  const module = await files.get(file);
  if (module.kind !== "esm" && module.kind !== "commonjs") return [];
  const names = new Set([...module.names, ...(module.kind === "esm" ? module.reexports.keys() : [])]);
  for (const specifier of module.stars) {
    const target = files.resolve(file, specifier, module.kind);
    const others = "file" in target ? await listExports(files, target.file, seen) : [];
    for (const name of others) if (name !== "default") names.add(name);
  }
  names.delete("__esModule");
  return [...names];
}

/** A hint for the full error. Omits file names that a shell would interpret. */
function hintForCheck(file: string): string {
  const command = /^[\w./-]+$/.test(file) ? `node --check ${file}` : "node --check";
  return `Run \`${command}\` to see the full error.`;
}

const escapeWord = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const hasWord = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$])${escapeWord(name)}(?![\\w$])`).test(text);

/** Whether TypeScript may export a value with this name. It is not parsed, because it cannot be published. */
const exportsInTypeScript = (text: string, name: string): boolean =>
  new RegExp(
    `\\bexport\\b(?!\\s+(?:type|interface|default)\\b)[^;]*?(?<![\\w$])${escapeWord(name)}(?![\\w$])|\\bexport\\s+\\*|\\bexport\\s+${escapeWord(name)}\\b`,
  ).test(text);
