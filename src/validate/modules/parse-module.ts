// Finds what a module exports and imports without running it. The lexers are loaded only where there is a module to look
// into.

/** A module named by a literal, and the rules by which Node finds it. */
interface WrittenImport {
  specifier: string;
  kind: "esm" | "commonjs";
  /** Node follows it before anything runs. */
  isStatic: boolean;
}

/** What the text of a module tells of its exports. */
export type ParsedModule =
  | {
      kind: "esm";
      /** Names exported by the module itself. */
      names: ReadonlySet<string>;
      /** Names exported from another module; `importName` is `null` for all of it as one object. */
      reexports: ReadonlyMap<string, { from: string; importName: string | null }>;
      /** Modules of which everything is exported. */
      stars: readonly string[];
      /** Relative paths that it imports. */
      imports: readonly WrittenImport[];
    }
  | {
      kind: "commonjs";
      names: ReadonlySet<string>;
      /** Modules whose exports become this one's. */
      stars: readonly string[];
      text: string;
    }
  /** Node itself would not load it; `why` goes on from the module's name and `position`: "cannot be parsed". */
  | { kind: "broken"; why: string; position?: string; hint?: string }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

/** The position of an index as it stands behind a file's name: `:3:5`. */
function positionOf(text: string, index: number | undefined): string {
  if (index === undefined || index < 0) return "";
  const lines = text.slice(0, index).split(/\r\n|\r|\n/);
  return `:${lines.length}:${(lines.at(-1) ?? "").length + 1}`;
}

async function loadEsmLexer() {
  const { init, parse } = await import("es-module-lexer");
  await init();
  return parse;
}

type LexedImport = ReturnType<Awaited<ReturnType<typeof loadEsmLexer>>>[0][number];

/** The relative path that an import names by a literal. */
function readRelative(one: LexedImport): string | undefined {
  if (!one.specifier || (one.type === "dynamic" && one.glob)) return undefined;
  return /^\.\.?(?:\/|$)/.test(one.specifier) ? one.specifier : undefined;
}

/** A text as an ES module, and whether anything in it says that it is one. TypeScript is read as well. */
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
    const specifier = readRelative(one);
    return specifier === undefined ? [] : [{ specifier, kind: "esm", isStatic: one.type !== "dynamic" }];
  });
  return { module: { kind: "esm", names, reexports, stars, imports }, isEsm: hasModuleSyntax };
}

/** A CommonJS module; its exports are found as Node finds those that an `import` can name. */
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
          hint: 'Give it the ending .mjs, or say "type": "module" in package.json.',
        }
      : { kind: "opaque", why: "cannot be parsed" };
  }
}

/** Makes calls of `require` read like those of `import`, and leaves every index as it is. */
function writeImports(text: string): string {
  // The lexer takes what follows a spread for a method.
  return text.replace(/\.{3}(?=\s*require\s*\()/g, "  ,").replace(/(?<![\w$.])require(?=\s*\()/g, "import ");
}

/** The relative paths that a CommonJS module requires or imports by a literal; none where it cannot be parsed. */
export async function parseRequires(text: string): Promise<WrittenImport[]> {
  if (!/["'`]\.\.?[/"'`]/.test(text)) return [];
  const parse = await loadEsmLexer();
  try {
    // The lexer of ES modules knows code from texts and comments, which that of CommonJS does for exports only.
    const [imported] = parse(writeImports(text));
    return imported.flatMap((one): WrittenImport[] => {
      const specifier = readRelative(one);
      const isRequire = text.startsWith("require", one.importStart);
      const kind = isRequire ? "commonjs" : "esm";
      return specifier === undefined ? [] : [{ specifier, kind, isStatic: false }];
    });
  } catch {
    return [];
  }
}
