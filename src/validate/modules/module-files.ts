import { posix, relative, sep } from "node:path";
import { isRecord, parseJson } from "../../data/parse-json.ts";
import { type InspectionPort, maximumModuleBytes } from "../../files/inspection-port.ts";
import { type ParsedModule, parseCommonJs, parseEsm, parseRequires } from "./parse-module.ts";

/** A module of the package as far as it can be told without running it. */
export type ModuleFile =
  | ParsedModule
  | { kind: "absent" }
  | { kind: "outside" }
  /** Data or machine code: some modules can take it in, but it is no module by itself. */
  | { kind: "foreign" };

/** Where a specifier leads: to a file of the package, or to something else. */
export type Resolution = { file: string } | { elsewhere: string };

const endings = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/** Endings that `require` tries, in order. */
const guessed = ["js", "json", "node"];

function readType(bytes: Uint8Array): string | undefined {
  try {
    const { value } = parseJson(bytes);
    return isRecord(value) && typeof value.type === "string" ? value.type : undefined;
  } catch {
    return undefined;
  }
}

/** The modules of one package, each read and parsed once. Paths are relative to the package, with `/`. */
export class ModuleFiles {
  readonly #port: InspectionPort;
  readonly #root: string;
  readonly #modules = new Map<string, Promise<ModuleFile>>();
  /** Where a module really is, by its path: what it names is relative to there. */
  readonly #realFiles = new Map<string, string>();
  /** The `type` of the nearest package.json, by folder. */
  readonly #types = new Map<string, string | undefined>();

  /** Of all modules together. */
  bytesRead = 0;

  constructor(port: InspectionPort, packageRoot: string) {
    this.#port = port;
    this.#root = packageRoot;
  }

  get(file: string): Promise<ModuleFile> {
    let module = this.#modules.get(file);
    if (module === undefined) {
      module = this.#read(file);
      this.#modules.set(file, module);
    }
    return module;
  }

  /** The files of the package that a module imports by relative paths, whether they are there or not. */
  async listImports(file: string): Promise<string[]> {
    const module = await this.get(file);
    const imports =
      module.kind === "esm"
        ? module.imports
        : module.kind === "commonjs"
          ? await parseRequires(module.text)
          : [];
    return imports.flatMap(({ specifier, kind }) => {
      const target = this.resolve(file, specifier, kind);
      return "file" in target ? target.file : [];
    });
  }

  /** Those that Node follows before it runs anything of an ES module; none of another. */
  async listStaticImports(file: string): Promise<string[]> {
    const module = await this.get(file);
    if (module.kind !== "esm") return [];
    return module.imports.flatMap(({ specifier, kind, isStatic }) => {
      const target = isStatic ? this.resolve(file, specifier, kind) : undefined;
      return target !== undefined && "file" in target ? target.file : [];
    });
  }

  /** Finds what a module means by a specifier: as `import` does, or as `require` does, which guesses endings. */
  resolve(from: string, specifier: string, kind: "esm" | "commonjs"): Resolution {
    if (!/^\.\.?(?:\/|$)/.test(specifier)) return { elsewhere: specifier };
    const path = kind === "esm" ? decodePath(specifier) : specifier;
    if (path === undefined) return { elsewhere: specifier };
    const file = posix.join(posix.dirname(this.#realFiles.get(from) ?? from), path);
    if (kind === "esm") return { file };
    const index = posix.join(file, "index");
    const candidates = [
      file,
      ...[file, index].flatMap((base) => guessed.map((ending) => `${base}.${ending}`)),
    ];
    return { file: candidates.find((one) => this.#port.describePath(this.#root, one) === "file") ?? file };
  }

  /** Names of the files in the folder of a module, for suggestions; `undefined` where there is no such folder. */
  listNeighbours(file: string): string[] | undefined {
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
          hint: "Name a module: a regular file of the package.",
        };
      case "tooLarge":
        return { kind: "opaque", why: `has ${read.bytes} bytes, too many to look into` };
      case "read": {
        const realFile = relative(this.#root, read.realPath).replaceAll(sep, "/");
        this.#realFiles.set(file, realFile);
        this.bytesRead += read.bytes.length;
        return this.#parse(realFile, read.bytes);
      }
    }
  }

  /** Parses as Node would: by the ending, the nearest `type`, and where neither says it by the text. */
  async #parse(file: string, bytes: Uint8Array): Promise<ModuleFile> {
    const ending = posix.extname(file).slice(1);
    if (ending === "") return { kind: "opaque", why: "has no ending that says what it is" };
    if (!endings.includes(ending)) return { kind: "foreign" };
    const text = new TextDecoder().decode(bytes);
    const type = /^[jt]s$/.test(ending) ? this.#typeOf(posix.dirname(file)) : undefined;
    const isTypeScript = ending.endsWith("ts");
    if (ending.startsWith("m") || type === "module") {
      return (await parseEsm(text)).module;
    }
    const isCommonJs = ending.startsWith("c") || type === "commonjs";
    const mayBeEsm = (isTypeScript || !isCommonJs) && /\b(?:import|export)\b/.test(text);
    const esm = mayBeEsm ? await parseEsm(text) : undefined;
    if (esm?.isEsm) return esm.module;
    return isTypeScript ? { kind: "opaque", why: "is TypeScript" } : parseCommonJs(text);
  }

  /** What the nearest package.json inside the package says of `.js` files; a folder's own counts even if silent. */
  #typeOf(folder: string): string | undefined {
    if (this.#types.has(folder)) return this.#types.get(folder);
    const read = this.#port.readFile(this.#root, posix.join(folder, "package.json"));
    const isTop = folder === "." || folder === "";
    const type =
      read.state === "read" ? readType(read.bytes) : isTop ? undefined : this.#typeOf(posix.dirname(folder));
    this.#types.set(folder, type);
    return type;
  }
}

/** The path of a relative URL, or `undefined` where it is none that names a file. */
function decodePath(specifier: string): string | undefined {
  try {
    return decodeURIComponent(specifier.replace(/[?#].*$/s, ""));
  } catch {
    return undefined;
  }
}
