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
      case "broken": {
        const { line, column } = module.fault ?? {};
        const place = [file, line, column].filter((part) => part !== undefined).join(":");
        return {
          absent: `${quote(place, 200)} ${module.why}`,
          hint: module.hint ?? hintForCheck(file),
          module: file,
        };
      }
      case "typescript":
        return exportsInTypeScript(this.#files.textOf(file), name)
          ? { unclear: `${quote(file)} is TypeScript` }
          : describeMissing(file, name);
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
        const isRuledOut = !module.isOpen && !hasWord(this.#files.textOf(file), name);
        if (followed === "found" || "unclear" in followed || isRuledOut) return followed;
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

const escapeWord = (name: string) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const hasWord = (text: string, name: string): boolean =>
  new RegExp(`(?<![\\w$])${escapeWord(name)}(?![\\w$])`).test(text);

/** Whether TypeScript may export a value with this name. It is not parsed, because it cannot be published. */
const exportsInTypeScript = (text: string, name: string): boolean =>
  new RegExp(
    `\\bexport\\b(?!\\s+(?:type|interface|default)\\b)[^;]*?(?<![\\w$])${escapeWord(name)}(?![\\w$])|\\bexport\\s+\\*|\\bexport\\s+${escapeWord(name)}\\b`,
  ).test(text);
