// Finds the exports and imports of modules without running them. The lexers are loaded on demand.

/** An import with a literal specifier, and the kind of resolution. */
export interface WrittenImport {
  specifier: string;
  kind: "esm" | "commonjs";
  /** Where it starts in the source code. */
  index: number;
  /** Node resolves it before running any code. */
  isStatic: boolean;
}

/** The statically known exports of a module. */
export type ParsedModule =
  | {
      kind: "esm";
      /** Names exported by the module itself. */
      names: ReadonlySet<string>;
      /** Names exported from another module; `importName` is `null` for its namespace object. */
      reexports: ReadonlyMap<string, { from: string; importName: string | null }>;
      /** Modules whose exports are all re-exported. */
      stars: readonly string[];
      /** Imports with literal specifiers. */
      imports: readonly WrittenImport[];
    }
  | {
      kind: "commonjs";
      names: ReadonlySet<string>;
      /** Modules whose exports are re-exported. */
      stars: readonly string[];
      text: string;
    }
  /** Node would not load it. `why` continues after the file name and `position`: "cannot be parsed". */
  | { kind: "broken"; why: string; position?: string; hint?: string }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

/** The line and column of an index, from 1. */
export function placeOf(text: string, index: number): { line: number; column: number } {
  const lines = text.slice(0, index).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

/** Formats an index as a position after a file name: `:3:5`. */
function positionOf(text: string, index: number | undefined): string {
  if (index === undefined || index < 0) return "";
  const { line, column } = placeOf(text, index);
  return `:${line}:${column}`;
}

async function loadEsmLexer() {
  const { init, parse } = await import("es-module-lexer");
  await init();
  return parse;
}

type LexedImport = ReturnType<Awaited<ReturnType<typeof loadEsmLexer>>>[0][number];

/** The literal specifier of an import. */
function readLiteral(one: LexedImport): string | undefined {
  return !one.specifier || (one.type === "dynamic" && one.glob) ? undefined : one.specifier;
}

/** Parses an ES module, or TypeScript. `isEsm` tells whether the text has module syntax. */
export async function parseEsm(text: string): Promise<{ module: ParsedModule; isEsm: boolean }> {
  const parse = await loadEsmLexer();
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(text);
  } catch (error) {
    const position = positionOf(text, (error as { idx?: number }).idx);
    return { module: { kind: "broken", why: "cannot be parsed", position }, isEsm: false };
  }
  const [imported, exports, , hasModuleSyntax] = parsed;
  const names = new Set<string>();
  const reexports = new Map<string, { from: string; importName: string | null }>();
  const stars: string[] = [];
  for (const one of exports) {
    if (one.typeOnly) continue;
    if (one.type === "direct") names.add(one.name);
    else if (one.type === "reexport") reexports.set(one.name, { from: one.from, importName: one.importName });
    else stars.push(one.from);
  }
  const imports = imported.flatMap((one): WrittenImport[] => {
    const specifier = readLiteral(one);
    if (specifier === undefined || one.type === "import-meta") return [];
    return [{ specifier, kind: "esm", index: one.importStart, isStatic: one.type !== "dynamic" }];
  });
  return { module: { kind: "esm", names, reexports, stars, imports }, isEsm: hasModuleSyntax };
}

/** Parses a CommonJS module. Finds the same named exports as Node. */
export async function parseCommonJs(text: string): Promise<ParsedModule> {
  const { parse } = await import("cjs-module-lexer");
  try {
    const { exports, reexports } = parse(text);
    return { kind: "commonjs", names: new Set(exports), stars: reexports, text };
  } catch (error) {
    const { code } = error as { code?: string };
    return code === "ERR_LEXER_ESM_SYNTAX"
      ? {
          kind: "broken",
          why: "is read as CommonJS, but has `import` or `export` statements",
          hint: 'Use the extension .mjs, or set "type" to "module" in package.json.',
        }
      : { kind: "opaque", why: "cannot be parsed" };
  }
}

/** Replaces calls of `require` with `import` without changing indexes. */
function writeImports(text: string): string {
  // The lexer would read a call after a spread as a method.
  return text.replace(/\.{3}(?=\s*require\s*\()/g, "  ,").replace(/(?<![\w$.])require(?=\s*\()/g, "import ");
}

/** The literal specifiers that a CommonJS module requires or imports; empty if it cannot be parsed. */
export async function parseRequires(text: string): Promise<WrittenImport[]> {
  if (!/\b(?:require|import)\s*\(/.test(text)) return [];
  const parse = await loadEsmLexer();
  try {
    // The lexer for ES modules skips strings and comments; the one for CommonJS reports only exports.
    const [imported] = parse(writeImports(text));
    return imported.flatMap((one): WrittenImport[] => {
      const specifier = readLiteral(one);
      const index = one.importStart;
      const kind = text.startsWith("require", index) ? "commonjs" : "esm";
      return specifier === undefined ? [] : [{ specifier, kind, index, isStatic: false }];
    });
  } catch {
    return [];
  }
}
