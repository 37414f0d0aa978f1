import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { carryIntegers, stringifyExactly } from "../data/exact-integers.ts";
import { attempt } from "../files/file-errors.ts";
import type { ContentBlock, ReadAnswer, ResourceLinkBlock, ToolResult } from "../runtime/tool-result.ts";
import type { CallScope } from "./calls.ts";

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
  /** The readers, by the URIs that were handed out. */
  readonly #readers = new Map<string, string>();
  /** Those without their structured content. */
  readonly incomplete = new WeakSet<ToolResult>();

  constructor(logDir: string) {
    this.#folder = join(logDir, "results");
  }

  /** `keepsStructured`: whether an app is fed by `structuredContent`, which then stays. */
  cut(
    result: ToolResult,
    { memory, reader }: Pick<CallScope, "memory" | "reader">,
    { maxChars, keepsStructured }: { maxChars: number; keepsStructured: boolean },
  ): ToolResult {
    const texts = result.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const json = result.structuredContent === undefined ? "" : stringifyExactly(result.structuredContent);
    const isLong = texts.join("").length > maxChars;
    const leavesOut = !keepsStructured && json.length > maxChars;
    if (!isLong && !leavesOut) return result;
    const links: ResourceLinkBlock[] = [];
    const shorten = (text: string, mimeType: string): ContentBlock => {
      const uri = this.#keep(memory.redact(text), mimeType === "text/plain" ? "txt" : "json", reader);
      if (uri !== undefined) links.push({ type: "resource_link", uri, name: "The whole result", mimeType });
      return { type: "text", text: cutText(text, maxChars, uri) };
    };
    const content = result.content.filter((block) => !isLong || block.type !== "text");
    const at = result.content.findIndex(({ type }) => type === "text");
    if (isLong) content.splice(at, 0, shorten(texts.join("\n"), "text/plain"));
    const ofJson = leavesOut ? [shorten(json, "application/json")] : [];
    if (texts.length === 0) content.push(...ofJson);
    const [message = ""] = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    const cut = carryIntegers(result, { ...result, content: [...content, ...links], message });
    if (!leavesOut) return cut;
    delete cut.structuredContent;
    this.incomplete.add(cut);
    return cut;
  }

  /** The URI of a new file with this text; `undefined` if it cannot be written. */
  #keep(text: string, ending: string, reader: string): string | undefined {
    return attempt(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const file = join(this.#folder, `${randomUUID()}.${ending}`);
      writeFileSync(file, text, { mode: 0o600, flag: "wx" });
      const uri = pathToFileURL(file).href;
      this.#readers.set(uri, reader);
      attempt(() => removeOldest(this.#folder, /^[\da-f-]{36}\.(?:txt|json)$/, mostKept, 0));
      for (const one of this.#readers.keys()) if (!existsSync(new URL(one))) this.#readers.delete(one);
      return uri;
    });
  }

  /** Reads a result that was handed out to this reader; `undefined` for another URI, and for a result that is not kept any more. */
  find(uri: string, reader: string): (() => ReadAnswer) | undefined {
    if (this.#readers.get(uri) !== reader || !existsSync(new URL(uri))) return undefined;
    const mimeType = uri.endsWith(".txt") ? "text/plain" : "application/json";
    return () => ({ contents: [{ uri, mimeType, text: readFileSync(new URL(uri), "utf8") }] });
  }
}
