import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import { type ConfigEditor, ConfigSyntaxError } from "./config-format.ts";
import type { JsonValue } from "./config-value.ts";
import { findLineEnd, indentationAt, type Splice, startOfBlankBefore } from "./splice.ts";

// Values of jsonc-parser's SyntaxKind, a `const enum` that is lost when types are stripped.
const comma = 5;
const lineComment = 12;
const blockComment = 13;
const lineBreak = 14;
const blanks = 15;
const end = 17;

const maximumDepth = 500;

/** Parses JSON with comments and trailing commas, as clients do. */
function parseTreeOf(text: string): Node | undefined {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '"') {
      for (index++; index < text.length && text[index] !== '"' && text[index] !== "\n"; index++) {
        if (text[index] === "\\") index++;
      }
    } else if (character === "{" || character === "[") {
      if (++depth > maximumDepth) throw new ConfigSyntaxError("it is nested too deeply", index);
    } else if (character === "}" || character === "]") depth--;
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [error] = errors;
  if (error !== undefined) {
    const code = printParseErrorCode(error.error)
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase();
    throw new ConfigSyntaxError(`it is not valid JSON (${code})`, error.offset);
  }
  return root;
}

function toValue(node: Node): unknown {
  if (node.type === "array") return (node.children ?? []).map(toValue);
  if (node.type !== "object") return node.value;
  const record = Object.create(null) as Record<string, unknown>;
  for (const { children } of node.children ?? []) {
    const [key, value] = children ?? [];
    if (key === undefined || value === undefined) continue;
    if (Object.hasOwn(record, key.value)) {
      throw new ConfigSyntaxError(`it has the key ${JSON.stringify(key.value)} twice`, key.offset);
    }
    record[key.value] = toValue(value);
  }
  return record;
}

function findProperty(node: Node | undefined, key: string): Node | undefined {
  if (node?.type !== "object") return undefined;
  return node.children?.find(({ children }) => children?.[0]?.value === key);
}

function findValue(root: Node | undefined, path: readonly string[]): Node | undefined {
  let node = root;
  for (const key of path) node = findProperty(node, key)?.children?.[1];
  return node;
}

const endOf = (node: Node) => node.offset + node.length;

/** The text between a value and the next: a comma, and comments on the same line. */
function readTail(text: string, from: number, until: number) {
  const scanner = createScanner(text.slice(from, until), false);
  let commaAt: number | undefined;
  let tailEnd = from;
  let endsInLineComment = false;
  let onLine = true;
  for (let kind = scanner.scan() as number; kind !== end; kind = scanner.scan() as number) {
    const tokenEnd = from + scanner.getTokenOffset() + scanner.getTokenLength();
    if (kind === comma) {
      commaAt = tokenEnd - 1;
      tailEnd = tokenEnd;
      endsInLineComment = false;
      onLine = true;
    } else if (kind === lineBreak) onLine = false;
    else if ((kind === lineComment || kind === blockComment) && onLine) {
      tailEnd = tokenEnd;
      endsInLineComment = kind === lineComment;
    } else if (kind !== blanks && kind !== lineComment && kind !== blockComment) break;
  }
  return { commaAt, tailEnd, endsInLineComment };
}

/** The layout of a file. */
interface Layout {
  lineEnd: string;
  unit: string;
  /** On one line; then `space` follows each colon. */
  compact: boolean;
  space: string;
}

function findLayout(text: string, root: Node | undefined): Layout {
  const lineEnd = findLineEnd(text);
  const first = root?.children?.[0];
  const written = root === undefined ? "" : text.slice(root.offset, endOf(root));
  const compact = first !== undefined && !written.includes("\n");
  const space = compact && !/"\s*:\S/.test(written) ? " " : "";
  const indentation = first === undefined || compact ? "" : indentationAt(text, first.offset);
  const base = root === undefined ? "" : indentationAt(text, root.offset);
  const unit = indentation.length > base.length ? indentation.slice(base.length) : "  ";
  return { lineEnd, unit, compact, space };
}

function renderInline(value: JsonValue, space: string): string {
  const text = JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
  if (space !== "") return text;
  return JSON.stringify(value);
}

const renderLines = (value: JsonValue, { unit, lineEnd }: Layout, indentation: string) =>
  JSON.stringify(value, null, unit).replaceAll("\n", `${lineEnd}${indentation}`);

/** Adds a property at the end of an object. `render` gets the indentation, or `undefined` for one line. */
function insertLast(
  text: string,
  object: Node,
  layout: Layout,
  render: (indentation: string | undefined) => string,
): Splice[] {
  const { lineEnd, unit, compact, space } = layout;
  const close = endOf(object) - 1;
  const last = object.children?.at(-1);
  const base = indentationAt(text, object.offset);
  if (last === undefined) {
    const inner = text.slice(object.offset + 1, close);
    const at = object.offset + 1 + inner.trimEnd().length;
    const hasLineEnd = text.slice(at, close).includes("\n");
    // Comments keep the braces when the property is removed, and there is no line end to add then.
    const around = object.parent === undefined ? text.slice(0, object.offset) + text.slice(close + 1) : "";
    if (compact || (!hasLineEnd && (inner + around).trim() !== "")) {
      const property = render(compact ? undefined : base);
      return [{ start: at, end: at, text: `${inner.trim() === "" ? "" : " "}${property}` }];
    }
    const closing = hasLineEnd ? "" : `${lineEnd}${base}`;
    const indentation = base + unit;
    return [
      {
        start: at,
        end: hasLineEnd ? at : close,
        text: `${lineEnd}${indentation}${render(indentation)}${closing}`,
      },
    ];
  }
  const valueEnd = endOf(last);
  const { commaAt, tailEnd, endsInLineComment } = readTail(text, valueEnd, close);
  const onLines = text.slice(object.offset, last.offset).includes("\n") || endsInLineComment;
  const first = object.children?.[0] ?? last;
  const startsLine = (node: Node) =>
    /^[ \t]*$/.test(text.slice(text.lastIndexOf("\n", node.offset - 1) + 1, node.offset));
  const model = startsLine(last) ? last : first;
  const indentation = startsLine(model) ? indentationAt(text, model.offset) : base + unit;
  const lead = onLines ? lineEnd + indentation : compact ? space : " ";
  const property = lead + render(onLines ? indentation : undefined);
  if (commaAt !== undefined) return [{ start: tailEnd, end: tailEnd, text: `${property},` }];
  if (tailEnd === valueEnd) return [{ start: valueEnd, end: valueEnd, text: `,${property}` }];
  return [
    { start: valueEnd, end: valueEnd, text: "," },
    { start: tailEnd, end: tailEnd, text: property },
  ];
}

/** The alternatives for removing a property with its comma. */
function cutProperty(text: string, object: Node, property: Node): Splice[][] {
  const children = object.children ?? [];
  const index = children.indexOf(property);
  const previous = children[index - 1];
  const next = children[index + 1];
  const close = endOf(object) - 1;
  const propertyEnd = endOf(property);
  const { commaAt } = readTail(text, propertyEnd, next?.offset ?? close);
  const lead = startOfBlankBefore(text, property.offset);
  const cut = (start: number): Splice[] => {
    if (commaAt !== undefined) return [{ start, end: commaAt + 1, text: "" }];
    const before = previous && readTail(text, endOf(previous), property.offset).commaAt;
    const own = { start, end: propertyEnd, text: "" };
    return before === undefined ? [own] : [{ start: before, end: before + 1, text: "" }, own];
  };
  return [cut(lead), cut(property.offset)];
}

function wrap(keys: readonly string[], value: JsonValue): JsonValue {
  return keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
}

export const jsonEditor: ConfigEditor = {
  maximumLength: 64 << 20,
  write({ container, key }, entry) {
    const indentation = "  ".repeat(container.length + 1);
    const text = JSON.stringify(entry, null, 2).replaceAll("\n", `\n${indentation}`);
    return `${indentation}${JSON.stringify(key)}: ${text}`;
  },
  open(text) {
    const root = parseTreeOf(text);
    return {
      value: root && toValue(root),
      offsetOf: (path) => findValue(root, path)?.offset ?? 0,
      add({ container, key }, entry) {
        const layout = findLayout(text, root);
        const keys = [...container, key];
        if (root === undefined) {
          // What is added to a text with comments only could not be told from an object that was there before.
          if (text.trim() !== "") return [];
          const written = renderLines(wrap(keys, entry), layout, "");
          return [[{ start: 0, end: text.length, text: written + layout.lineEnd }]];
        }
        let object = root;
        let depth = 0;
        for (; depth < container.length; depth++) {
          const next = findValue(object, [container[depth] ?? ""]);
          if (next === undefined) break;
          if (next.type !== "object") {
            const reason = `its ${JSON.stringify(container[depth])} must be an object, but its type is ${next.type}`;
            throw new ConfigSyntaxError(reason, next.offset);
          }
          object = next;
        }
        const [name = "", ...below] = keys.slice(depth);
        const value = wrap(below, entry);
        const render = (indentation: string | undefined) =>
          indentation === undefined
            ? `${JSON.stringify(name)}:${layout.compact ? layout.space : " "}${renderInline(value, layout.compact ? layout.space : " ")}`
            : `${JSON.stringify(name)}: ${renderLines(value, layout, indentation)}`;
        return [insertLast(text, object, layout, render)];
      },
      remove({ container, key }) {
        const object = findValue(root, container);
        const property = findProperty(object, key);
        return object === undefined || property === undefined ? [] : cutProperty(text, object, property);
      },
      replace({ container, key }, entry) {
        const property = findProperty(findValue(root, container), key);
        const value = property?.children?.[1];
        if (property === undefined || value === undefined) return [];
        const layout = findLayout(text, root);
        const written = layout.compact
          ? renderInline(entry, layout.space)
          : renderLines(entry, layout, indentationAt(text, property.offset));
        const lead = text.slice(property.offset, value.offset);
        return [[{ start: property.offset, end: endOf(property), text: lead + written }]];
      },
    };
  },
};
