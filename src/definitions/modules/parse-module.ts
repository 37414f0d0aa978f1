// Finds what a module exports without running it. The lexers are loaded only where there is a module to look into.

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
    }
  | {
      kind: "commonjs";
      names: ReadonlySet<string>;
      /** Modules whose exports become this one's. */
      stars: readonly string[];
      text: string;
    }
  /** Node itself would not load it; `why` goes on from the module's name: "cannot be parsed". */
  | { kind: "broken"; why: string }
  /** It may export anything. */
  | { kind: "opaque"; why: string };

/** The position of an index, for a message. */
function positionOf(text: string, index: number | undefined): string {
  if (index === undefined || index < 0) return "";
  const lines = text.slice(0, index).split(/\r\n|\r|\n/);
  return ` at ${lines.length}:${(lines.at(-1) ?? "").length + 1}`;
}

async function loadEsmLexer() {
  const { init, parse } = await import("es-module-lexer");
  await init();
  return parse;
}

/** An ES module; `undefined` where nothing in the text says that it is one. TypeScript is read as well. */
export async function parseEsm(text: string): Promise<ParsedModule | undefined> {
  const parse = await loadEsmLexer();
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(text);
  } catch (error) {
    return { kind: "broken", why: `cannot be parsed${positionOf(text, (error as { idx?: number }).idx)}` };
  }
  const [, exports, , hasModuleSyntax] = parsed;
  if (!hasModuleSyntax) return undefined;
  const names = new Set<string>();
  const reexports = new Map<string, { from: string; importName: string | null }>();
  const stars: string[] = [];
  for (const one of exports) {
    if (one.typeOnly) continue;
    if (one.type === "direct") names.add(one.name);
    else if (one.type === "reexport") reexports.set(one.name, { from: one.from, importName: one.importName });
    else stars.push(one.from);
  }
  return { kind: "esm", names, reexports, stars };
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
      ? { kind: "broken", why: "is read as CommonJS, but has `import` or `export` statements" }
      : { kind: "opaque", why: "cannot be parsed" };
  }
}
