import { ConfigSyntaxError } from "./config-format.ts";

/** A header or a `key = value` of a TOML text, and its range. */
export interface TomlStatement {
  kind: "table" | "listTable" | "value";
  /** From the top: a value's path includes that of its table. */
  path: readonly string[];
  /** For each array of tables on the path, the number of its headers before this one. */
  element: number;
  start: number;
  /** After the last character of the header or the value, without comments. */
  end: number;
  /** The start of the value; for headers the same as `end`. */
  valueStart: number;
}

const bareKey = /[A-Za-z0-9_-]+/y;

/** Finds positions in a text that is known to be valid TOML. */
export class TomlScanner {
  readonly #text: string;
  position: number;

  constructor(text: string, position = 0) {
    this.#text = text;
    this.position = position;
  }

  get #next(): string {
    return this.#text[this.position] ?? "";
  }

  fail(): never {
    throw new ConfigSyntaxError("it is not valid TOML", this.position);
  }

  skipBlanks(): void {
    while (this.#next === " " || this.#next === "\t") this.position++;
  }

  skipComment(): void {
    if (this.#next !== "#") return;
    const newline = this.#text.indexOf("\n", this.position);
    this.position = newline < 0 ? this.#text.length : newline;
  }

  /** Blanks, line ends and comments. */
  skipSpace(): void {
    for (;;) {
      const before = this.position;
      this.skipBlanks();
      this.skipComment();
      while (this.#next === "\n" || this.#next === "\r") this.position++;
      if (this.position === before) return;
    }
  }

  takes(token: string): boolean {
    if (!this.#text.startsWith(token, this.position)) return false;
    this.position += token.length;
    return true;
  }

  /** Keys separated by dots. */
  readKeys(): string[] {
    const keys: string[] = [];
    do {
      this.skipBlanks();
      keys.push(this.#readKey());
      this.skipBlanks();
    } while (this.takes("."));
    return keys;
  }

  #readKey(): string {
    const start = this.position;
    if (this.#next === '"') {
      this.skipString();
      try {
        return JSON.parse(
          this.#text
            .slice(start, this.position)
            .replace(/\\U(.{8})/g, (_, hex: string) =>
              JSON.stringify(String.fromCodePoint(Number.parseInt(hex, 16))).slice(1, -1),
            ),
        ) as string;
      } catch {
        return this.#text.slice(start, this.position);
      }
    }
    if (this.#next === "'") {
      this.skipString();
      return this.#text.slice(start + 1, this.position - 1);
    }
    bareKey.lastIndex = this.position;
    const [key] = bareKey.exec(this.#text) ?? [];
    if (key === undefined) this.fail();
    this.position += key.length;
    return key;
  }

  skipString(): void {
    const quote = this.#next;
    const isLong = this.#text.startsWith(quote.repeat(3), this.position);
    const mark = isLong ? quote.repeat(3) : quote;
    this.position += mark.length;
    while (this.position < this.#text.length && !this.#text.startsWith(mark, this.position)) {
      this.position += quote === '"' && this.#next === "\\" ? 2 : 1;
    }
    this.position += mark.length;
    // Up to two quotes may precede the closing three of a multi-line string.
    if (isLong) while (this.#next === quote) this.position++;
  }

  skipValue(): void {
    const next = this.#next;
    if (next === '"' || next === "'") this.skipString();
    else if (next === "[" || next === "{") this.#skipBrackets();
    else while (this.position < this.#text.length && !/[\s,\]}#]/.test(this.#next)) this.#skipWord();
  }

  /** Skips a word. A date and a time may be separated by a blank. */
  #skipWord(): void {
    this.position++;
    if (/^\d\d\d\d-\d\d-\d\d \d\d:/.test(this.#text.slice(this.position - 10, this.position + 4)))
      this.position++;
  }

  /** Skips an array or an inline table, from its opening bracket. */
  #skipBrackets(): void {
    let depth = 0;
    do {
      const next = this.#next;
      if (next === "") this.fail();
      if (next === '"' || next === "'") this.skipString();
      else if (next === "#") this.skipComment();
      else {
        if (next === "[" || next === "{") depth++;
        else if (next === "]" || next === "}") depth--;
        this.position++;
      }
    } while (depth > 0);
  }

  readPair(prefix: readonly string[], element: number): TomlStatement {
    const start = this.position;
    const keys = this.readKeys();
    if (!this.takes("=")) this.fail();
    this.skipBlanks();
    const valueStart = this.position;
    this.skipValue();
    if (this.position === valueStart) this.fail();
    return { kind: "value", path: [...prefix, ...keys], element, start, end: this.position, valueStart };
  }
}

/** All headers and values of tables, in order. */
export function findStatements(text: string): TomlStatement[] {
  const scanner = new TomlScanner(text);
  const statements: TomlStatement[] = [];
  let table: readonly string[] = [];
  let element = 0;
  for (scanner.skipSpace(); scanner.position < text.length; scanner.skipSpace()) {
    const start = scanner.position;
    if (!scanner.takes("[")) {
      statements.push(scanner.readPair(table, element));
      continue;
    }
    const isList = scanner.takes("[");
    table = scanner.readKeys();
    if (!scanner.takes(isList ? "]]" : "]")) scanner.fail();
    if (isList) element++;
    const end = scanner.position;
    statements.push({
      kind: isList ? "listTable" : "table",
      path: table,
      element,
      start,
      end,
      valueStart: end,
    });
  }
  return statements;
}
