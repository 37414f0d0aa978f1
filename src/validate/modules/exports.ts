import { quote } from "../../problems/index.ts";
import type { ModuleFiles } from "./module-files.ts";

/** Whether a module has an export, or why it does not or cannot be determined. */
export type ExportSearch =
  | "found"
  /** `module` is where it was searched last, `exports` what is there instead; `hint` replaces the latter. */
  | { absent: string; module: string; exports?: readonly string[]; hint?: string }
  | { unclear: string };

/**
 * Finds an export of a module, also in the modules of the package whose exports it re-exports as a whole. What another
 * module exports under a name that is re-exported is not checked. Does not run the modules.
 */
export async function findExport(files: ModuleFiles, file: string, name: string): Promise<ExportSearch> {
  const { names, others } = await surveyExports(files, file, name, new Set());
  if (!names.has(name)) return "absent" in others ? { ...others, exports: [...names.keys()] } : others;
  const unclear = names.get(name);
  return unclear === undefined ? "found" : { unclear };
}

/** The names that a module exports, with the reason if one is unclear, and what holds for `name` if it is none of them. */
async function surveyExports(files: ModuleFiles, file: string, name: string, seen: Set<string>) {
  const names = new Map<string, string | undefined>();
  const what = name === "default" ? "default export" : `export ${quote(name)}`;
  let others: Exclude<ExportSearch, "found"> = { absent: `${quote(file)} has no ${what}`, module: file };
  const module = await files.get(file);
  if (seen.has(file)) return { names, others };
  seen.add(file);
  const text = files.textOf(file);
  switch (module.kind) {
    case "absent":
      return { names, others: { absent: `the package has no file ${quote(file)}`, module: file } };
    case "outside":
      return { names, others: { unclear: `${quote(file)} is outside the package` } };
    case "broken": {
      const { line, column } = module.fault ?? {};
      const place = [file, line, column].filter((part) => part !== undefined).join(":");
      const hint = module.hint ?? hintForCheck(file);
      return { names, others: { absent: `${quote(place, 200)} ${module.why}`, module: file, hint } };
    }
    case "typescript":
      if (exportsInTypeScript(text, name)) others = { unclear: `${quote(file)} is TypeScript` };
      return { names, others };
    case "opaque":
      return { names, others: { unclear: `${quote(file)} ${module.why}` } };
    case "foreign":
      return { names, others: { unclear: `${quote(file)} defines it` } };
  }
  const isCommonJs = module.kind === "commonjs";
  for (const own of module.names) if (own !== "__esModule") names.set(own, undefined);
  if (isCommonJs && name === "default") names.set(name, undefined);
  const explain = (specifier: string) => `${quote(file)} re-exports it from ${quote(specifier)}`;
  const isAbsent = async (target: string) => (await files.get(target)).kind === "absent";
  for (const [own, specifier] of isCommonJs ? [] : module.reexports) {
    const target = files.resolve(file, specifier, module.kind);
    if ("elsewhere" in target) names.set(own, explain(target.elsewhere));
    else if (own !== name || !(await isAbsent(target.file))) names.set(own, undefined);
    else return surveyExports(files, target.file, name, seen);
  }
  for (const specifier of module.stars) {
    const target = files.resolve(file, specifier, module.kind);
    if ("elsewhere" in target) {
      // `export *` leaves out the default export.
      if (name !== "default") others = { unclear: explain(target.elsewhere) };
      continue;
    }
    const inner = await surveyExports(files, target.file, name, seen);
    for (const [other, unclear] of inner.names)
      if (other !== "default" && (unclear === undefined || !names.has(other))) names.set(other, unclear);
    const counts = "unclear" in inner.others || (!("unclear" in others) && (await isAbsent(target.file)));
    if (counts && name !== "default") others = inner.others;
  }
  if (isCommonJs && !("unclear" in others) && (module.isOpen || hasWord(text, name)))
    others = { unclear: `${quote(file)} may create its exports at run time` };
  return { names, others };
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
