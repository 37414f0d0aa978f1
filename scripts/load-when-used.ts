/** The part of a bundler's plugin interface that is used here. */
interface ChunkPlugin {
  name: string;
  renderChunk(code: string): string;
}

const name = String.raw`(?:require|node|import)_[\w$]+`;
/** Except what Node itself has loaded when it starts. */
const builtInOrFile = String.raw`require\((?!"node:(?:fs|path|url|buffer|util)")(?:"[^"]+"|'[^']+')\)`;
const interop = String.raw`(?:\/\* @__PURE__ \*\/ )?[\w.$]+\([\w.$]+(?:\(\))?, 1\)`;

/** An import as the bundler writes it: of a module of Node, of a file beside, or of a package in CommonJS. */
const importLine = new RegExp(`^(?:const|let|var) (${name}) = (${builtInOrFile}|${interop});$`, "gm");
/** The line behind the import of a module of Node whose default export is used. */
const interopLine = new RegExp(`^(${name}) = (${interop});\\n`, "gm");

/** An export as the bundler writes it, for values that change later. */
const exportLine =
  /^Object\.defineProperty\(exports, (['"].+?['"]), \{\s+enumerable: true,\s+get: function ?\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);$/gm;

/** Exports functions, classes and constants by assignment, which is a third as long. */
function shortenExports(code: string): string {
  return code.replace(exportLine, (line, name: string, value: string) => {
    const never = new RegExp(
      String.raw`^(?:(?:async )?function\*?|class|const) ${value.replaceAll("$", String.raw`\$`)}\b`,
      "m",
    );
    return never.test(code) ? `exports[${name}] = ${value};` : line;
  });
}

/**
 * Lets each file of the command load what it imports when it is first used, instead of at once. A command uses only a part
 * of what its files may need, and Node would read and parse all of it.
 */
export function loadWhenUsed(): ChunkPlugin {
  return {
    name: "load-when-used",
    renderChunk(written) {
      const code = shortenExports(written);
      const interops = new Map(
        [...code.matchAll(interopLine)].map(([, imported = "", value = ""]) => [imported, value]),
      );
      const names: string[] = [];
      const imports = code.replace(importLine, (_, imported: string, value: string) => {
        const whole = interops.get(imported)?.replace(`(${imported},`, () => `(${value},`) ?? value;
        names.push(imported);
        return `var ${imported}$; function ${imported}() { return ${imported}$ ??= ${whole}; }`;
      });
      if (names.length === 0) return code;
      const deferred = imports.replace(interopLine, (line, imported: string) =>
        names.includes(imported) ? "" : line,
      );
      const anyName = names.map((one) => one.replaceAll("$", String.raw`\$`)).join("|");
      const use = new RegExp(String.raw`(?<![\w$]|(?<!\.\.)\.|function )(?:${anyName})(?![\w$])(\.)?`, "g");
      return deferred.replace(use, (found, dot: string | undefined) => {
        if (dot === undefined) throw new Error(`${found} is used as a whole and cannot be loaded later.`);
        // In parentheses, because `new` would take the call of the function for its own.
        return `(${found.slice(0, -1)}()).`;
      });
    },
  };
}
