import { quote } from "../../problems/index.ts";
import type { ModuleFiles, Resolution } from "./module-files.ts";

/** Whether a module has an export, or why it does not or cannot be determined. */
export type ExportSearch =
  | "found"
  | {
      absent: string;
      /** Replaces the list of exports. */
      hint?: string;
      /** The module that was searched last. */
      module?: string;
    }
  | { unclear: string };

/** Limit on chains of re-exports. */
const maximumHops = 1000;

/** Finds exports of modules, following re-exports. Does not run the modules. */
export class ExportFinder {
  readonly #files: ModuleFiles;

  constructor(files: ModuleFiles) {
    this.#files = files;
  }

  /** Finds an export of a module inside the package. */
  async find(file: string, name: string): Promise<ExportSearch> {
    const { kind } = await this.#files.get(file);
    if (kind === "foreign") return { absent: `Node cannot import ${quote(file)} as a module` };
    return this.#find(file, name, new Set());
  }

  async #find(file: string, name: string, seen: Set<string>): Promise<ExportSearch> {
    const key = `${file}#${name}`;
    if (seen.has(key)) return describeMissing(file, name);
    if (seen.size >= maximumHops)
      return { unclear: `the chain of re-exports is longer than ${maximumHops} modules` };
    seen.add(key);

    const module = await this.#files.get(file);
    switch (module.kind) {
      case "absent":
        return { absent: `the package has no file ${quote(file)}` };
      case "outside":
        return { absent: `${quote(file)} is outside the package` };
      case "broken":
        return {
          absent: `${quote(`${file}${module.position ?? ""}`, 200)} ${module.why}`,
          hint: module.hint ?? hintForCheck(file),
          module: file,
        };
      case "opaque":
        return { unclear: `${quote(file)} ${module.why}` };
      case "foreign":
        return { unclear: `${quote(file)} defines it` };
      case "esm": {
        if (module.names.has(name)) return "found";
        const reexport = module.reexports.get(name);
        if (reexport !== undefined) {
          const target = this.#files.resolve(file, reexport.from, "esm");
          const found = await this.#follow(target, reexport.importName, file, seen);
          // The exports of this module would be no help, because the export is missing in the other one.
          return found !== "found" && "absent" in found
            ? { hint: `${quote(file)} re-exports it from there.`, ...found }
            : found;
        }
        if (name === "default") return describeMissing(file, name);
        return this.#findInStars(file, name, module.stars, "esm", seen);
      }
      case "commonjs": {
        if (name === "default" || module.names.has(name)) return "found";
        const followed = await this.#findInStars(file, name, module.stars, "commonjs", seen);
        if (followed === "found" || "unclear" in followed || rulesOutExport(module.text, name))
          return followed;
        return { unclear: `${quote(file)} may create its exports at run time` };
      }
    }
  }

  /** Finds an export in the modules whose exports are all re-exported. */
  async #findInStars(
    file: string,
    name: string,
    stars: readonly string[],
    kind: "esm" | "commonjs",
    seen: Set<string>,
  ): Promise<ExportSearch> {
    let result: ExportSearch = describeMissing(file, name);
    for (const specifier of stars) {
      const target = this.#files.resolve(file, specifier, kind);
      const found = await this.#follow(target, name, file, seen);
      if (found === "found") return found;
      const isMissing = "file" in target && (await this.#files.get(target.file)).kind === "absent";
      if ("unclear" in found || (isMissing && !("unclear" in result))) result = found;
    }
    return result;
  }

  async #follow(
    target: Resolution,
    name: string | null,
    from: string,
    seen: Set<string>,
  ): Promise<ExportSearch> {
    if ("elsewhere" in target) {
      return { unclear: `${quote(from)} re-exports it from ${quote(target.elsewhere)}` };
    }
    const { kind } = await this.#files.get(target.file);
    if (kind === "outside") return { unclear: `${quote(from)} re-exports it from outside the package` };
    if (name === null && kind !== "absent" && kind !== "broken") return "found";
    return this.#find(target.file, name ?? "default", seen);
  }

  /** The known exports of a module, for suggestions. */
  async list(file: string, seen: Set<string> = new Set()): Promise<string[]> {
    if (seen.has(file) || seen.size >= maximumHops) return [];
    seen.add(file);
    const module = await this.#files.get(file);
    if (module.kind !== "esm" && module.kind !== "commonjs") return [];
    const names = new Set(module.names);
    if (module.kind === "esm") for (const name of module.reexports.keys()) names.add(name);
    for (const specifier of module.stars) {
      const target = this.#files.resolve(file, specifier, module.kind);
      if (!("file" in target)) continue;
      for (const name of await this.list(target.file, seen)) if (name !== "default") names.add(name);
    }
    names.delete("__esModule");
    return [...names];
  }
}

/** A hint for the full error. Omits file names that a shell would interpret. */
function hintForCheck(file: string): string {
  const command = /^[\w./-]+$/.test(file) ? `node --check ${file}` : "node --check";
  return `Run \`${command}\` to see the full error.`;
}

function describeMissing(file: string, name: string): { absent: string; module: string } {
  const absent =
    name === "default"
      ? `${quote(file)} has no default export`
      : `${quote(file)} has no export ${quote(name)}`;
  return { absent, module: file };
}

/** Values after `module.exports =` whose names all occur in the text. */
const plainValue = /^(?:\{|(?:async\s+)?function\b|class\b|([A-Za-z_$][\w$]*)\s*(?:[;\n]|$))/;

interface Context {
  hasSpread: boolean;
  /** Functions and classes that the text declares. */
  declared: ReadonlySet<string>;
}

/** Whether a use of `exports`, judged by the text before and after it, may add names that do not occur in the text. */
function mayAddNames(before: string, behind: string, { hasSpread, declared }: Context): boolean {
  if (/^\s*\.\s*[A-Za-z_$]/.test(behind)) return false;
  if (/defineProperty\s*\(\s*(?:module\s*\.\s*)?$/.test(before)) return !/^\s*,\s*["']/.test(behind);
  const assigned = /^\s*=(?![=>])\s*/.exec(behind);
  if (assigned === null || !/\bmodule\s*\.\s*$/.test(before)) return true;
  const plain = plainValue.exec(behind.slice(assigned[0].length));
  if (plain === null) return true;
  const [, identifier] = plain;
  return identifier === undefined ? hasSpread : !declared.has(identifier);
}

/**
 * Whether a CommonJS module certainly has no export of this name: its text does not contain the name, and it does not
 * export whole objects, as in `Object.assign(exports, other)` or `module.exports = make()`. False in case of doubt.
 */
export function rulesOutExport(text: string, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text)) return false;
  // Comments may mention exports. Lines that end with code stay.
  const code = text.replace(/^[ \t]*(?:\/\/|(?!.*\*\/[ \t]*\S)\/?\*).*$/gm, "");
  const declarations = code.matchAll(/\b(?:function|class)\s+([A-Za-z_$][\w$]*)/g);
  const declared = new Set([...declarations].map(([, declaredName = ""]) => declaredName));
  const context = { hasSpread: code.includes("..."), declared };
  for (const { index } of code.matchAll(/(?<![\w$])exports(?![\w$])/g)) {
    const before = code.slice(Math.max(0, index - 60), index);
    if (mayAddNames(before, code.slice(index + "exports".length, index + 300), context)) return false;
  }
  return true;
}
