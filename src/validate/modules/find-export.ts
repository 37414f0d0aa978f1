import { quote } from "../../problems/index.ts";
import type { ModuleFiles, Resolution } from "./module-files.ts";

/** Whether a module has an export: it has, it has not, or parsing cannot tell; and why. */
export type ExportSearch =
  | "found"
  /** `hint` in place of what the module exports. */
  | { absent: string; hint?: string }
  | { unclear: string };

/** Larger groups of modules that export from each other are nobody's intention. */
const maximumHops = 1000;

/** Looks for exports in the modules of a package, through those that they export from. Runs nothing. */
export class ExportFinder {
  readonly #files: ModuleFiles;

  constructor(files: ModuleFiles) {
    this.#files = files;
  }

  /** Looks for one export of a module that is inside the package. */
  async find(file: string, name: string): Promise<ExportSearch> {
    const { kind } = await this.#files.get(file);
    if (kind === "foreign") return { absent: `${quote(file)} is no file that Node imports as a module` };
    return this.#find(file, name, new Set());
  }

  async #find(file: string, name: string, seen: Set<string>): Promise<ExportSearch> {
    const key = `${file}#${name}`;
    if (seen.has(key)) return { absent: describeMissing(file, name) };
    if (seen.size >= maximumHops)
      return { unclear: `more than ${maximumHops} modules export from each other` };
    seen.add(key);

    const module = await this.#files.get(file);
    switch (module.kind) {
      case "absent":
        return { absent: `there is no file ${quote(file)} in the package` };
      case "outside":
        return { absent: `${quote(file)} lies outside the package` };
      case "broken":
        return {
          absent: `${quote(`${file}${module.position ?? ""}`, 200)} ${module.why}`,
          hint: module.hint ?? hintForCheck(file),
        };
      case "opaque":
        return { unclear: `${quote(file)} ${module.why}` };
      case "foreign":
        return { unclear: `it comes out of ${quote(file)}` };
      case "esm": {
        if (module.names.has(name)) return "found";
        const reexport = module.reexports.get(name);
        if (reexport !== undefined) {
          const target = this.#files.resolve(file, reexport.from, "esm");
          const found = await this.#follow(target, reexport.importName, file, seen);
          // What this module exports is no way out: the export is missing where it takes it from.
          return found !== "found" && "absent" in found
            ? { hint: `${quote(file)} exports it from there.`, ...found }
            : found;
        }
        if (name === "default") return { absent: describeMissing(file, name) };
        return this.#findInStars(file, name, module.stars, "esm", seen);
      }
      case "commonjs": {
        if (name === "default" || module.names.has(name)) return "found";
        const followed = await this.#findInStars(file, name, module.stars, "commonjs", seen);
        if (followed === "found" || "unclear" in followed || rulesOutExport(module.text, name))
          return followed;
        return { unclear: `${quote(file)} may make its exports while it runs` };
      }
    }
  }

  /** Everything that a module exports from others whole: the name may be in any of them. */
  async #findInStars(
    file: string,
    name: string,
    stars: readonly string[],
    kind: "esm" | "commonjs",
    seen: Set<string>,
  ): Promise<ExportSearch> {
    let result: ExportSearch = { absent: describeMissing(file, name) };
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
      return { unclear: `${quote(from)} exports it from ${quote(target.elsewhere)}` };
    }
    const { kind } = await this.#files.get(target.file);
    if (kind === "outside") return { unclear: `${quote(from)} exports it from outside the package` };
    if (name === null && kind !== "absent" && kind !== "broken") return "found";
    return this.#find(target.file, name ?? "default", seen);
  }

  /** The names that a module is known to export, for suggestions. */
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

/** How to get the whole error; not for a name that a shell would take for more than a name. */
function hintForCheck(file: string): string {
  return /^[\w./-]+$/.test(file) ? `\`node --check ${file}\` says more.` : "`node --check` says more.";
}

function describeMissing(file: string, name: string): string {
  return name === "default"
    ? `${quote(file)} has no default export`
    : `${quote(file)} has no export ${quote(name)}`;
}

/** What may stand behind `module.exports =` without bringing names that the text does not hold. */
const plainValue = /^(?:\{|(?:async\s+)?function\b|class\b|([A-Za-z_$][\w$]*)\s*(?:[;\n]|$))/;

interface Context {
  hasSpread: boolean;
  /** Functions and classes that the text declares. */
  declared: ReadonlySet<string>;
}

/** Whether a use of `exports`, by what stands before and behind it, may add names that the text does not hold. */
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
 * Whether a CommonJS module surely has no export of this name: the name is nowhere in its text, and nothing is
 * exported as a whole, as `Object.assign(exports, other)` or `module.exports = make()` do. When in doubt, it may.
 */
export function rulesOutExport(text: string, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  if (new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text)) return false;
  // Comments like to speak of exports; a line of one that ends with code stays.
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
