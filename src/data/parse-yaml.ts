import { isMap, isPair, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { DataSyntaxError, decodeUtf8 } from "./decode.ts";
import { maximumDepth } from "./parse-json.ts";

type Path = readonly (string | number)[];

/** A YAML text as plain data, with a way to find where each value stands. */
export interface YamlData {
  text: string;
  value: unknown;
  /** Line and column, from 1, of the value at a path, or of its nearest ancestor; of its key where it has one. */
  locate(path: Path): { line: number; column: number };
}

/** More aliases than this expand to more than anybody wrote. */
const maximumAliases = 100;

/**
 * Parses YAML 1.2 from bytes: one document, unique keys, bounded aliases and depth. Throws `DataSyntaxError` with an
 * offset where there is one.
 */
export function parseYaml(bytes: Uint8Array): YamlData {
  const text = decodeUtf8(bytes);
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
    const [error] = document.errors;
    if (error !== undefined)
      throw new DataSyntaxError(`it is not valid YAML (${error.message})`, text, error.pos[0]);
    visit(document, {
      Node(_key, node, ancestors) {
        // Each level of nesting is a collection; a pair between two of them is no level of its own.
        if (ancestors.filter((ancestor) => !isPair(ancestor)).length > maximumDepth) {
          throw new DataSyntaxError(`it nests deeper than ${maximumDepth} levels`, text, node.range?.[0]);
        }
      },
    });
    const value: unknown = document.toJS({ maxAliasCount: maximumAliases });
    return {
      text,
      value,
      locate(path) {
        for (let length = path.length; length > 0; length--) {
          const parent = document.getIn(path.slice(0, length - 1), true) ?? document.contents;
          const last = path[length - 1];
          if (isMap(parent)) {
            const key = parent.items.find(
              (pair) => (isScalar(pair.key) ? pair.key.value : pair.key) === last,
            )?.key;
            if (isScalar(key) && key.range) return position(lines, key.range[0]);
          }
          const node = document.getIn(path.slice(0, length), true) as
            | { range?: [number, number, number] }
            | undefined;
          if (node?.range) return position(lines, node.range[0]);
        }
        return { line: 1, column: 1 };
      },
    };
  } catch (error) {
    if (error instanceof DataSyntaxError) throw error;
    if (error instanceof RangeError)
      throw new DataSyntaxError(`it nests deeper than ${maximumDepth} levels`, text, 0);
    throw new DataSyntaxError(`it is not valid YAML (${(error as Error).message})`, text, 0);
  }
}

function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
