import { posix, relative, sep } from "node:path";
import { resolveExports, resolveImports } from "resolve-pkg-maps";
import { memoize } from "../../data/memoize.ts";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import { attempt } from "../../files/file-errors.ts";
import { maximumModuleBytes, type PathKind } from "../../files/inspection-port.ts";
import { inspectionPort as port } from "../../files/node-inspection-port.ts";
import { quote } from "../../problems/index.ts";
import { findNearestNames } from "../../qualified-names/nearest-names.ts";
import { isInPackage, isJavaScript, isTypeScript } from "../needed-files.ts";
import type { ModuleKind, ParsedModule, Unparsed, WrittenImport } from "./parse-module.ts";

/** The statically known part of a module of the package. */
export type ModuleFile =
  /** `folder` is the one of its real path, from which its imports start. */
  | (ParsedModule & { text: string; folder: string })
  | Unparsed
  | { kind: "typescript" }
  | { kind: "absent" }
  | { kind: "outside" };

export type Resolution = { file: string } | { elsewhere: string };

export interface ModuleImport extends WrittenImport {
  /** The module that has it, and its source code. */
  file: string;
  text: string;
  target: Resolution;
}

/** Limit per package, because each answer takes a process. */
const maximumAsked = 10;

/** Limit on the modules of a package, to keep validation fast. */
const maximumBytes = 32 << 20;

/** Suffixes that `require` tries, in order. */
const guessed = ["", ".js", ".json", ".node", "/index.js", "/index.json", "/index.node"];

/** The nearest package.json of a module, and its folder relative to the package. */
interface Scope {
  folder: string;
  manifest: Readonly<Record<string, unknown>>;
}

/** The modules of one package, each read and parsed once. Paths are relative to the package, with `/`. */
export class ModuleFiles {
  readonly #root: string;
  readonly #package: Scope;
  /** How often Node was asked whether a module cannot be parsed. */
  #asked = 0;
  #bytesRead = 0;

  constructor(packageRoot: string, manifest: Readonly<Record<string, unknown>>) {
    this.#root = packageRoot;
    this.#package = { folder: ".", manifest };
  }

  readonly get = memoize((file: string) => this.#read(file));

  /**
   * The imports of modules with literal specifiers, and those of the JavaScript that they import from the package by
   * relative paths, and so on. What they lead to may not exist.
   */
  async *follow(modules: Iterable<string>): AsyncGenerator<ModuleImport> {
    const seen = new Set(modules);
    for (const file of seen) {
      const isRead = isJavaScript(file) && this.#bytesRead <= maximumBytes;
      const module = isRead ? await this.get(file) : undefined;
      if (module === undefined || !("imports" in module)) continue;
      const { imports, text, folder } = module;
      for (const one of imports) {
        const target = this.#resolve(folder, one);
        if ("file" in target && isInPackage(target.file)) seen.add(target.file);
        yield { ...one, file, text, target };
      }
    }
  }

  kindOf(file: string): PathKind {
    return port.describePath(this.#root, file);
  }

  /** Resolves a specifier like `import`, or like `require`, which tries suffixes. */
  #resolve(from: string, { specifier, kind }: WrittenImport): Resolution {
    if (!/^\.\.?(?:\/|$)/.test(specifier)) return this.#resolveName(from, specifier, kind);
    if (kind === "esm") {
      const path = attempt(() => decodeURIComponent(specifier.replace(/[?#].*$/s, "")));
      return path === undefined ? { elsewhere: specifier } : { file: posix.join(from, path) };
    }
    const file = posix.join(from, specifier);
    const base = file.replace(/\/$/, "");
    return {
      file: guessed.map((suffix) => base + suffix).find((one) => this.kindOf(one) === "file") ?? file,
    };
  }

  /** Resolves a name by `imports` of the nearest package.json, or by `exports` if it is the name of the package itself. */
  #resolveName(from: string, specifier: string, kind: ModuleKind): Resolution {
    const { folder, manifest } = this.#scopeOf(from);
    const { name, imports, exports } = manifest;
    const isInternal = specifier.startsWith("#");
    const isSelf = typeof name === "string" && (specifier === name || specifier.startsWith(`${name}/`));
    if (!isInternal && (!isSelf || exports === undefined)) return { elsewhere: specifier };
    const conditions = ["node", kind === "esm" ? "import" : "require", "node-addons", "module-sync"];
    const [target] =
      attempt(() =>
        isInternal
          ? resolveImports(imports as Record<string, string>, specifier, conditions)
          : resolveExports(exports as string, specifier.slice(String(name).length + 1), conditions),
      ) ?? [];
    if (target?.startsWith("./")) return { file: posix.join(folder, target) };
    return { elsewhere: target ?? specifier };
  }

  /** How to correct the path of a missing file: build it, or name a similar file of its folder, with its path from the folder `from`. */
  hintForMissing(file: string, from = "."): string {
    const neighbors = port.listFiles(this.#root, posix.dirname(file)) ?? [];
    const inFolder = (found: string) => posix.join(posix.dirname(file), found);
    const name = posix.basename(file);
    const base = name.replace(/\.[cm]?js$/, "");
    const source = neighbors.find((one) => isTypeScript(one) && one.replace(/\.[cm]?tsx?$/, "") === base);
    if (source !== undefined)
      return `Build it first: the package has only its source ${quote(inFolder(source), 200)}.`;
    const usable = neighbors.filter((one) => !isTypeScript(one));
    const nearest = usable.find((one) => one.startsWith(`${name}.`)) ?? findNearestNames(name, usable)[0];
    if (nearest === undefined)
      return "Add the file to the package. If a build creates it, run the build first.";
    const path = posix.relative(from, inFolder(nearest));
    return `Did you mean ${quote(path.startsWith(".") ? path : `./${path}`, 200)}?`;
  }

  /**
   * The reason why a module of the package would fail to load: it transitively imports a file that is missing. Ignores imports
   * in a `try` block or with a `.catch`, and those of other packages.
   */
  async findFailingImport(module: string) {
    for await (const { file, target, isGuarded } of this.follow([module])) {
      if (isGuarded || !("file" in target) || !isInPackage(target.file)) continue;
      if (this.kindOf(target.file) !== "absent") continue;
      const reason = `${quote(file, 200)} imports ${quote(target.file, 200)}, which is not in the package`;
      return { reason, hint: this.hintForMissing(target.file, posix.dirname(file)) };
    }
    return undefined;
  }

  /** Reads and parses like Node: according to the suffix, the nearest `type`, or the syntax. */
  async #read(path: string): Promise<ModuleFile> {
    if (port.describePath(this.#root, path) === "outside") return { kind: "outside" };
    const read = port.readFile(this.#root, path, maximumModuleBytes);
    if (read.state === "unusable") return { kind: "broken", why: read.reason.replace(/^it /, "") };
    if (read.state === "tooLarge")
      return { kind: "opaque", why: `has ${read.bytes} bytes, which exceeds the limit` };
    if (read.state !== "read") return { kind: read.state };
    const file = relative(this.#root, read.realPath).replaceAll(sep, "/");
    const folder = posix.dirname(file);
    this.#bytesRead += read.bytes.length;
    const suffix = posix.extname(file).slice(1);
    if (suffix === "") return { kind: "opaque", why: "has no file extension" };
    if (!/^[cm]?[jt]s$/.test(suffix)) {
      // Data or machine code.
      return { kind: "broken", why: "cannot be imported by Node as a module" };
    }
    if (suffix.endsWith("ts")) return { kind: "typescript" };
    const text = new TextDecoder().decode(read.bytes);
    const type = suffix === "js" ? this.#scopeOf(folder).manifest.type : suffix;
    const isCommonJs = type === "cjs" || type === "commonjs";
    const format = type === "mjs" || type === "module" ? "esm" : isCommonJs ? "commonjs" : undefined;
    const { parseModule } = await import("./parse-module.ts");
    const module = await parseModule(text, format, this.#asked < maximumAsked);
    if (module.kind === "broken") this.#asked++;
    return "why" in module ? module : { ...module, text, folder };
  }

  readonly #scopeOf = memoize((folder: string): Scope => {
    if (folder === ".") return this.#package;
    const read = port.readFile(this.#root, `${folder}/package.json`);
    if (read.state !== "read") return this.#scopeOf(posix.dirname(folder));
    const value = attempt(() => parseJson(read.bytes).value);
    return { folder, manifest: isRecord(value) ? value : {} };
  });
}
