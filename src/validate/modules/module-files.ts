import { posix, relative, sep } from "node:path";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import { type InspectionPort, maximumModuleBytes, type PathKind } from "../../files/inspection-port.ts";
import { type ModuleKind, type ParsedModule, parseModule, type WrittenImport } from "./parse-module.ts";

/** Like Node: `null` excludes the name, so later conditions have no effect; `undefined` if no condition matches. */
function chooseTarget(target: unknown, kind: ModuleKind): string | null | undefined {
  if (typeof target === "string" || target === null) return target;
  const conditions = ["node", kind === "esm" ? "import" : "require", "node-addons", "module-sync", "default"];
  const chosen = Array.isArray(target)
    ? target.map((one) => chooseTarget(one, kind))
    : Object.entries(isRecord(target) ? target : {}).flatMap(([condition, one]) =>
        conditions.includes(condition) ? [chooseTarget(one, kind)] : [],
      );
  return Array.isArray(target)
    ? (chosen.find((one) => typeof one === "string") ?? chosen.findLast((one) => one !== undefined))
    : chosen.find((one) => one !== undefined);
}

/**
 * Resolves a name by the `imports` or `exports` of package.json: to `./file`, or to the name of a package. `undefined` if
 * nothing matches. The exact key counts, else the pattern with the longest part before `*`.
 */
function resolvePackageTarget(entries: unknown, name: string, kind: ModuleKind): string | undefined {
  if (!isRecord(entries)) return undefined;
  if (Object.hasOwn(entries, name) && !name.includes("*"))
    return chooseTarget(entries[name], kind) ?? undefined;
  const [best] = Object.keys(entries)
    .map((key) => ({ key, parts: key.split("*") as [string, ...string[]] }))
    .filter(({ parts: [start, end = "", ...others], key }) => {
      const fits = name.startsWith(start) && name.endsWith(end) && name.length > start.length + end.length;
      return fits && key.includes("*") && others.length === 0;
    })
    .sort((one, other) => other.parts[0].length - one.parts[0].length);
  if (best === undefined) return undefined;
  const [start, end = ""] = best.parts;
  const star = name.slice(start.length, name.length - end.length);
  return chooseTarget(entries[best.key], kind)?.replaceAll("*", () => star);
}

/** The statically known part of a module of the package. */
export type ModuleFile =
  | ParsedModule
  | { kind: "typescript" }
  | { kind: "absent" }
  | { kind: "outside" }
  /** Data or machine code, which modules can load but which is not a module. */
  | { kind: "foreign" };

/** The target of a specifier: a file of the package, or something else. */
export type Resolution =
  | { file: string }
  /** `missingIn` is the key of package.json that would have to define the specifier. */
  | { elsewhere: string; missingIn?: "imports" | "exports" };

const suffixes = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** Limit per package, because each answer takes a process. */
const maximumAsked = 10;

/** Suffixes that `require` tries, in order. */
const guessed = ["js", "json", "node"];

function readRecord(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const { value } = parseJson(bytes);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** The nearest package.json of a module, and its folder relative to the package. */
interface Scope {
  folder: string;
  manifest: Readonly<Record<string, unknown>>;
}

/** The modules of one package, each read and parsed once. Paths are relative to the package, with `/`. */
export class ModuleFiles {
  readonly #port: InspectionPort;
  readonly #root: string;
  readonly #manifest: Readonly<Record<string, unknown>>;
  readonly #modules = new Map<string, Promise<ModuleFile>>();
  /** The source code of the modules that were read, by path. */
  readonly texts = new Map<string, string>();
  /** Real paths of modules by path: the base of their imports. */
  readonly #realFiles = new Map<string, string>();
  readonly #scopes = new Map<string, Scope>();

  /** How often Node was asked whether a module cannot be parsed. */
  #asked = 0;

  /** The total size of all modules. */
  bytesRead = 0;

  constructor(port: InspectionPort, packageRoot: string, manifest: Readonly<Record<string, unknown>>) {
    this.#port = port;
    this.#root = packageRoot;
    this.#manifest = manifest;
  }

  get(file: string): Promise<ModuleFile> {
    let module = this.#modules.get(file);
    if (module === undefined) {
      module = this.#read(file);
      this.#modules.set(file, module);
    }
    return module;
  }

  /** The literal imports of a module. */
  async listWritten(file: string): Promise<readonly WrittenImport[]> {
    const module = await this.get(file);
    return "imports" in module ? module.imports : [];
  }

  kindOf(file: string): PathKind {
    return this.#port.describePath(this.#root, file);
  }

  /** The source code of a module that was read; empty otherwise. */
  textOf(file: string): string {
    return this.texts.get(file) ?? "";
  }

  /** Whether a package.json below the top of the package applies to a module. */
  hasOwnManifest(file: string): boolean {
    return this.#scopeOf(posix.dirname(file)).folder !== ".";
  }

  /** A package.json below the top without which Node would read a module in the other format; `undefined` if none. */
  findDecisiveManifest(file: string): string | undefined {
    const { folder } = this.#scopeOf(posix.dirname(file));
    if (!file.endsWith(".js") || folder === ".") return undefined;
    const [type, outer] = [this.#typeOf(folder), this.#typeOf(posix.dirname(folder))];
    const isDecisive = type !== undefined && outer !== undefined && type !== outer;
    return isDecisive ? posix.join(folder, "package.json") : undefined;
  }

  /** Resolves a specifier like `import`, or like `require`, which tries suffixes. */
  resolve(from: string, specifier: string, kind: ModuleKind): Resolution {
    if (!/^\.\.?(?:\/|$)/.test(specifier)) return this.#resolveName(from, specifier, kind);
    const path = kind === "esm" ? decodePath(specifier) : specifier;
    if (path === undefined) return { elsewhere: specifier };
    const file = posix.join(posix.dirname(this.#realFiles.get(from) ?? from), path);
    if (kind === "esm") return { file };
    const index = posix.join(file, "index");
    const candidates = [
      file,
      ...[file, index].flatMap((base) => guessed.map((suffix) => `${base}.${suffix}`)),
    ];
    return { file: candidates.find((one) => this.kindOf(one) === "file") ?? file };
  }

  /** Resolves a name by `imports` of the nearest package.json, or by `exports` if it is the name of the package itself. */
  #resolveName(from: string, specifier: string, kind: ModuleKind): Resolution {
    const { folder, manifest } = this.#scopeOf(posix.dirname(this.#realFiles.get(from) ?? from));
    const { name, imports, exports } = manifest;
    const isSelf = typeof name === "string" && (specifier === name || specifier.startsWith(`${name}/`));
    const isInternal = specifier.startsWith("#");
    if (!isInternal && (!isSelf || exports === undefined)) return { elsewhere: specifier };
    // The short form of `exports` is for the package as a whole.
    const isShort = !isRecord(exports) || !Object.keys(exports).some((key) => key.startsWith("."));
    const target = isInternal
      ? resolvePackageTarget(imports, specifier, kind)
      : resolvePackageTarget(
          isShort ? { ".": exports } : exports,
          `.${specifier.slice(String(name).length)}`,
          kind,
        );
    if (target === undefined) return { elsewhere: specifier, missingIn: isInternal ? "imports" : "exports" };
    return target.startsWith("./") ? { file: posix.join(folder, target) } : { elsewhere: target };
  }

  /** Names of the files in the folder of a module, for suggestions; `undefined` if the folder does not exist. */
  listNeighbors(file: string): string[] | undefined {
    return this.#port.listFiles(this.#root, posix.dirname(file));
  }

  async #read(file: string): Promise<ModuleFile> {
    if (this.#port.leavesPackage(this.#root, file)) return { kind: "outside" };
    const read = this.#port.readFile(this.#root, file, maximumModuleBytes);
    switch (read.state) {
      case "absent":
      case "outside":
        return { kind: read.state };
      case "unusable":
        return {
          kind: "broken",
          why: read.reason.replace(/^it /, ""),
          hint: "Use a regular file of the package.",
        };
      case "tooLarge":
        return { kind: "opaque", why: `has ${read.bytes} bytes, which exceeds the limit` };
      case "read": {
        const realFile = relative(this.#root, read.realPath).replaceAll(sep, "/");
        this.#realFiles.set(file, realFile);
        this.bytesRead += read.bytes.length;
        return this.#parse(file, realFile, read.bytes);
      }
    }
  }

  /** Parses like Node: according to the suffix, the nearest `type`, or the syntax. */
  async #parse(path: string, file: string, bytes: Uint8Array): Promise<ModuleFile> {
    const suffix = posix.extname(file).slice(1);
    if (suffix === "") return { kind: "opaque", why: "has no file extension" };
    if (!suffixes.includes(suffix)) return { kind: "foreign" };
    const text = new TextDecoder().decode(bytes);
    this.texts.set(path, text);
    const type = suffix === "js" ? this.#typeOf(posix.dirname(file)) : undefined;
    if (suffix.endsWith("ts")) return { kind: "typescript" };
    const isEsm = suffix === "mjs" || type === "module";
    const isCommonJs = suffix === "cjs" || type === "commonjs";
    const format = isEsm ? "esm" : isCommonJs ? "commonjs" : undefined;
    const module = await parseModule(text, format, this.#asked < maximumAsked ? askNode : undefined);
    if (module.kind === "broken") this.#asked++;
    return module;
  }

  /** The `type` of the nearest package.json inside the package. */
  #typeOf(folder: string): string | undefined {
    const { type } = this.#scopeOf(folder).manifest;
    return typeof type === "string" ? type : undefined;
  }

  #scopeOf(folder: string): Scope {
    const known = this.#scopes.get(folder);
    if (known !== undefined) return known;
    const isTop = folder === "." || folder === "" || folder === "/" || folder.startsWith("..");
    const read = this.#port.readFile(this.#root, isTop ? "package.json" : posix.join(folder, "package.json"));
    const scope =
      read.state === "read"
        ? { folder: isTop ? "." : folder, manifest: readRecord(read.bytes) }
        : isTop
          ? { folder: ".", manifest: this.#manifest }
          : this.#scopeOf(posix.dirname(folder));
    this.#scopes.set(folder, scope);
    return scope;
  }
}

async function askNode(text: string, kind: ModuleKind) {
  const { findSyntaxErrorIn } = await import("../../confinement/confined-process.ts");
  return findSyntaxErrorIn(text, kind);
}

/** Decodes the path of a relative URL; `undefined` if it is malformed. */
function decodePath(specifier: string): string | undefined {
  try {
    return decodeURIComponent(specifier.replace(/[?#].*$/s, ""));
  } catch {
    return undefined;
  }
}
