import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { carryIntegers, stringifyExactly } from "../data/exact-integers.ts";
import { attempt } from "../files/file-errors.ts";
import type { ContentBlock, ReadAnswer, ResourceLinkBlock, ToolResult } from "../runtime/tool-result.ts";

const mostKept = 100;

/** Removes all but the latest of our files and folders in a folder, as far as it may, and those that are younger than `keptMs`. */
export function removeOldest(folder: string, isOurs: RegExp, most: number, keptMs: number): void {
  const entries = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return isOurs.test(name) ? { path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 } : [];
  });
  entries.sort((a, b) => b.at - a.at);
  for (const { path, at } of entries.slice(most))
    if (Date.now() - at >= keptMs) attempt(() => rmSync(path, { recursive: true, force: true }));
}

export interface Cut {
  maxChars: number;
  /** Whether an app is fed by `structuredContent`, which then stays. */
  keepsStructured: boolean;
  reader: string;
  redact(text: string): string;
}

const sizeOf = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);

/** The first and the last half of what may stay, without halves of characters. */
function cutText(text: string, maxChars: number, uri: string | undefined): string {
  const first = text.slice(0, Math.ceil(maxChars / 2)).replace(/[\uD800-\uDBFF]$/, "");
  const last = text.slice(text.length - Math.floor(maxChars / 2)).replace(/^[\uDC00-\uDFFF]/, "");
  const count = text.length - first.length - last.length;
  return `${first}\n[${count} characters left out${uri === undefined ? "" : `: ${uri}`}]\n${last}`;
}

/** Cuts results that are too large for a model, and keeps what they were in files of the session. */
export class LargeResults {
  readonly #folder: string;
  /** By the URIs that were handed out. */
  readonly #kept = new Map<string, { file: string; reader: string }>();
  readonly #incomplete = new WeakSet<ToolResult>();

  constructor(logDir: string) {
    this.#folder = join(logDir, "results");
  }

  isIncomplete = (result: ToolResult): boolean => this.#incomplete.has(result);

  cut(result: ToolResult, { maxChars, keepsStructured, reader, redact }: Cut): ToolResult {
    const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const json = result.structuredContent === undefined ? "" : stringifyExactly(result.structuredContent);
    const isLong = sizeOf(texts) > maxChars;
    const leavesOut = !keepsStructured && json.length > maxChars;
    if (!isLong && !leavesOut) return result;
    const links: ResourceLinkBlock[] = [];
    const keep = (text: string, mimeType: string) => {
      const uri = this.#keep(redact(text), mimeType === "text/plain" ? "txt" : "json", reader);
      if (uri !== undefined) links.push({ type: "resource_link", uri, name: "The whole result", mimeType });
      return uri;
    };
    const content: ContentBlock[] = result.content.filter((block) => !isLong || block.type !== "text");
    const whole = texts.join("\n");
    const at = result.content.findIndex(({ type }) => type === "text");
    if (isLong)
      content.splice(at, 0, { type: "text", text: cutText(whole, maxChars, keep(whole, "text/plain")) });
    if (leavesOut) {
      const uri = keep(json, "application/json");
      if (texts.length === 0) content.push({ type: "text", text: cutText(json, maxChars, uri) });
    }
    const { structuredContent: _, ...others } = result;
    const [first] = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const kept = leavesOut ? others : result;
    const cut = carryIntegers(result, { ...kept, content: [...content, ...links], message: first ?? "" });
    if (leavesOut) this.#incomplete.add(cut);
    return cut;
  }

  /** The URI of a new file with this text; `undefined` if it cannot be written. */
  #keep(text: string, ending: string, reader: string): string | undefined {
    return attempt(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const file = join(this.#folder, `${randomUUID()}.${ending}`);
      writeFileSync(file, text, { mode: 0o600, flag: "wx" });
      const uri = pathToFileURL(file).href;
      this.#kept.set(uri, { file, reader });
      attempt(() => removeOldest(this.#folder, /^[\da-f-]{36}\.(?:txt|json)$/, mostKept, 0));
      for (const [kept, { file: path }] of this.#kept) if (!existsSync(path)) this.#kept.delete(kept);
      return uri;
    });
  }

  /** Reads a result that was handed out to this reader; `undefined` for another URI, and for a result that is not kept any more. */
  find(uri: string, reader: string): (() => ReadAnswer) | undefined {
    const { file, reader: owner } = this.#kept.get(uri) ?? {};
    if (file === undefined || owner !== reader || !existsSync(file)) return undefined;
    const mimeType = file.endsWith(".txt") ? "text/plain" : "application/json";
    return () => ({ contents: [{ uri, mimeType, text: readFileSync(file, "utf8") }], isStatic: false });
  }
}
