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
  const { names, others } = await listExports(files, file, name, new Set());
  if (others !== undefined && !names.has(name)) return others;
  const unclear = names.get(name);
  if (names.has(name)) return unclear === undefined ? "found" : { unclear };
  const what = name === "default" ? "default export" : `export ${quote(name)}`;
  return { absent: `${quote(file)} has no ${what}`, module: file, exports: [...names.keys()] };
}

/** The exports of a module, with the reason if one is unclear, and what holds for `name` if it may have others. */
async function listExports(files: ModuleFiles, file: string, name: string, seen: Set<string>) {
  const names = new Map<string, string | undefined>();
  let others: Exclude<ExportSearch, "found"> | undefined;
  if (seen.has(file)) return { names, others };
  seen.add(file);
  const module = await files.get(file);
  if (module.kind === "absent") others = { absent: `the package has no file ${quote(file)}`, module: file };
  else if (module.kind === "outside") others = { unclear: `${quote(file)} is outside the package` };
  else if (module.kind === "opaque") others = { unclear: `${quote(file)} ${module.why}` };
  else if (module.kind === "foreign" || module.kind === "typescript")
    others = { unclear: `${quote(file)} defines it` };
  else if (module.kind === "broken") {
    const { line, column } = module.fault ?? {};
    const place = [file, line, column].filter((part) => part !== undefined).join(":");
    // A shell would interpret other file names.
    const command = /^[\w./-]+$/.test(file) ? `node --check ${file}` : "node --check";
    const hint = module.hint ?? `Run \`${command}\` to see the full error.`;
    others = { absent: `${quote(place, 200)} ${module.why}`, module: file, hint };
  } else {
    const explain = (specifier: string) => `${quote(file)} re-exports it from ${quote(specifier)}`;
    const isElsewhere = (specifier: string) => "elsewhere" in files.resolve(file, specifier, module.kind);
    for (const [own, from] of module.names)
      names.set(own, from !== undefined && isElsewhere(from) ? explain(from) : undefined);
    for (const specifier of module.stars) {
      const target = files.resolve(file, specifier, module.kind);
      const inner =
        "file" in target
          ? await listExports(files, target.file, name, seen)
          : { names: [], others: { unclear: explain(specifier) } };
      // `export *` leaves out the default export.
      for (const [own, unclear] of inner.names)
        if (own !== "default" && !names.has(own)) names.set(own, unclear);
      if (name !== "default") others ??= inner.others;
    }
    if (module.kind === "commonjs" && (module.isOpen || files.textOf(file).includes(name)))
      others ??= { unclear: `${quote(file)} may create its exports at run time` };
  }
  return { names, others };
}
