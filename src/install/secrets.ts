import { type Node, parseTree } from "jsonc-parser";
import { applySplices, type Splice } from "./editing/splice.ts";

/** Words that contain `secretPart` but do not stand for a secret. */
const plainWords = new Set(
  `author authors authored authoring authority authorities authentic authenticity coauthor coauthors cookiecutter donkey
  donkeys hockey hotkey hotkeys jockey keyboard keyboards keyframe keyframes keymap keymaps keynote keynotes keypad keypads
  keyspace keyspaces keystroke keystrokes keyword keywords maxtokens monkey monkeys secretariat secretary tokenization tokenize
  tokenizer tokenizers turkey whiskey`.split(/\s+/),
);
const secretPart = /token|key|secret|passwd|password|passphrase|auth|cookie/;
/** Words that make a number of the tokens of a model: `MAX_TOKENS`, `token-limit`. */
const countWord = /^(?:max|maximum|min|minimum|num|number|count|limit|budget|total|per)$/;
const countEnd = /^(?:count|limit|budget)$/;
const secretEnd = /^(?:pass|pat|pwd)$/;
const secretValue = /^(?:Bearer|Basic) /i;

/**
 * Whether the name of an option, a variable, a header or a key suggests that its value is a secret: by a word, or by a part of
 * a word such as `authtoken`, but not by a plain word such as `keyboard`, nor by a number of tokens such as `MAX_TOKENS`.
 */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== "");
  const isCounted = (word: string) =>
    (word === "tokens" && words.some((one) => countWord.test(one))) ||
    (word === "token" && countEnd.test(words.at(-1) ?? ""));
  const isSecret = (word: string) => secretPart.test(word) && !plainWords.has(word) && !isCounted(word);
  return words.some(isSecret) || words.join("").includes("password") || secretEnd.test(words.at(-1) ?? "");
}

/** Whether a text has a reference to a variable in the form of the config. */
export const hasReference = (text: string): boolean => /\$\{[A-Za-z_]\w*(?::-[^{}]*)?\}/.test(text);

/** Matches options such as `--no-auth`, which have no value. */
const switchedOff = /^-*(?:no|disable|without)-/i;

/** Matches options before a command line: those of shells. */
const shellOption = /^(?:-[a-z]*c|\/c|-command)$/i;
/** Matches the words of a command line; quotes hold spaces. */
const shellWords = /(?:[^\s"']|"(?:\\.|[^"\\])*"|'[^']*'|["'])+/g;

/** How to treat the strings of a server's entry. */
export interface SecretHiding {
  /** The start of the name of a secret that has no name itself. */
  label: string;
  /** Returns the replacement of a secret. `isVariable`: `name` is the name of a variable. */
  hide(name: string, secret: string, isVariable: boolean): string;
  /** Converts a text that is not secret. */
  convert(text: string): string;
}

/** Replaces values that look secret in the strings of a server's entry. */
export class SecretHider {
  readonly #hiding: SecretHiding;

  constructor(hiding: SecretHiding) {
    this.#hiding = hiding;
  }

  /** Converts the value of a variable, a header or an option. A URL or JSON may contain secrets. */
  value(name: string, text: string, isVariable = false): string {
    const { hide, convert, label } = this.#hiding;
    if (text !== "" && (isSecretName(name) || secretValue.test(text))) {
      const converted = convert(text);
      return hasReference(converted)
        ? converted
        : hide(name === "" ? `${label}_TOKEN` : name, text, isVariable);
    }
    if (/^\s*[{[]/.test(text)) return this.#json(text);
    return /^[a-z][\w+.-]*:\/\//i.test(text) ? this.url(text) : convert(text);
  }

  /** Converts a URL, whose password and query parameters may be secrets. */
  url(text: string): string {
    const { label, convert } = this.#hiding;
    const [, start, password] = /^([a-z][\w+.-]*:\/\/[^\s/?#:@]*:)([^\s/]+)@/i.exec(text) ?? [];
    if (start !== undefined && password !== undefined) {
      const rest = text.slice(start.length + password.length);
      return convert(start) + this.value(`${label}_PASSWORD`, password) + this.url(rest);
    }
    const query = text.indexOf("?");
    if (query < 0) return convert(text);
    const parameters = text
      .slice(query)
      .replace(/([?&])([^=&#]+)=([^&#]*)/g, (_, mark: string, name: string, value: string) => {
        return `${mark}${name}=${this.value(name, value)}`;
      });
    return convert(text.slice(0, query)) + parameters;
  }

  /** Converts the values in JSON by their keys. */
  #json(text: string): string {
    const { convert } = this.#hiding;
    const converted = convert(text);
    const splices: Splice[] = [];
    const visit = (node: Node | undefined, name: string): void => {
      if (node?.type === "property") visit(node.children?.[1], String(node.children?.[0]?.value));
      else if (node?.type === "string" || (node?.type === "number" && isSecretName(name))) {
        const value = String(node.value);
        const shown = hasReference(value) ? value : this.value(name, value);
        const { offset, length } = node;
        if (shown !== value)
          splices.push({ start: offset, end: offset + length, text: JSON.stringify(shown) });
      } else for (const child of node?.children ?? []) visit(child, name);
    };
    visit(parseTree(converted), "");
    return applySplices(converted, splices);
  }

  /** Converts an argument or a part of one. `name` is the option that it belongs to, if any. */
  #argument(name: string, text: string): string {
    if (/^https?:\/\//i.test(text)) return this.url(text);
    // Docker accepts `-eNAME=VALUE` as well.
    const [, key, rest] = /^((?:-e(?=[A-Z_]\w*=)|-{0,2})[\w-]+=)(.*)$/s.exec(text) ?? [];
    if (key !== undefined && rest !== undefined)
      return key + this.#argument(key.replace(/^-e(?=[A-Z_])/, "").slice(0, -1), rest);
    const [, header, content] = /^([\w-]+:\s*)(.+)$/s.exec(text) ?? [];
    if (header !== undefined && content !== undefined) {
      if (isSecretName(header) || secretValue.test(content)) return header + this.value(header, content);
    }
    return this.value(name, text);
  }

  /** Converts a command line in one text, such as a shell's. Only the secrets in it change, not what it runs. */
  commandLine(text: string): string {
    const { convert } = this.#hiding;
    const words = [...text.matchAll(shellWords)].map(({ 0: word, index }) => {
      const [, start = word, quote = "", content = ""] = /^([^"']*)(["'])(.*)\2$/s.exec(word) ?? [];
      return { start, quote, plain: start + content, begin: index, end: index + word.length };
    });
    const converted = this.args(words.map(({ plain }) => plain));
    let result = "";
    let position = 0;
    for (const [index, { start, quote, plain, begin, end }] of words.entries()) {
      const shown = converted[index] ?? plain;
      // The shell's own variables are no secrets.
      if (shown === plain || shown === convert(plain) || /\$[\w({]/.test(plain)) continue;
      const isQuoted = quote !== "" && shown.startsWith(start);
      result += convert(text.slice(position, begin));
      result += isQuoted ? `${start}${quote}${shown.slice(start.length)}${quote}` : shown;
      position = end;
    }
    return result + convert(text.slice(position));
  }

  args(words: readonly string[]): string[] {
    const options = /^-{1,2}[\w-]+$/;
    return words.map((word, index) => {
      const before = words[index - 1] ?? "";
      const isOption = /^(?:--|-\w$)/.test(word);
      if (shellOption.test(before) && /\s/.test(word)) return this.commandLine(word);
      const isValue = options.test(before) && !isOption && !switchedOff.test(before);
      return this.#argument(isValue ? before : "", word);
    });
  }
}
