import { DataSyntaxError } from "../data/decode.ts";
import { parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { failure, printable, TrailblazeError } from "../problems/index.ts";
import { listOf, quote } from "../problems/text.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { defaultAbove, searchToolName } from "../qualified-names/search-tool.ts";
import { type ContentBlock, failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { CallOptions } from "../session/call-listeners.ts";
import type { Session } from "../session/session.ts";
import type { SessionTool } from "../session/session-tool.ts";
import type { LlmToolsOptions } from "../session/tool-search.ts";

/** What adapters use of a session. */
export type AdaptedSession = Pick<Session, "toolsForLlm" | "callTool">;

/** Which tools a model gets, and how its calls run. */
export interface AdapterOptions extends Pick<CallOptions, "signal" | "timeoutMs" | "onProgress" | "onLog"> {
  /** Only the tools of these toolsets, by their short names. */
  toolsets?: readonly string[] | undefined;
  /** Only these tools, by their advertised names. */
  names?: readonly string[] | undefined;
  /**
   * With more tools than this, the model gets `always`, the tool `search_tools`, and what it has found so far. Calls of the
   * others work, too.
   */
  above?: LlmToolsOptions["above"];
  /** The tools that the model gets in any case, by names that calls take. */
  always?: LlmToolsOptions["always"];
}

/** Arguments of a model that are longer are refused. In UTF-16 code units. */
const longestArguments = 16 << 20;

/** Why a text is not the JSON of arguments, with the position. */
async function describeFault(error: DataSyntaxError): Promise<string> {
  const { describeSyntaxError } = await import("../data/json-positions.ts");
  const { reason, line, column } = describeSyntaxError(error);
  const place = line === undefined ? "" : ` at line ${line}, column ${column}`;
  return `The arguments cannot be used: ${reason}${place}. Send a JSON object.`;
}

/** The tools of a session that a model gets, and how it calls them. Calls of a model resolve unless they are aborted. */
export class AdaptedTools {
  readonly #session: AdaptedSession;
  readonly #options: AdapterOptions;

  /** Throws `TrailblazeError`: `ToolNotFound` and `ToolsetNotFound` for names in the options that the session lacks. */
  constructor(session: AdaptedSession, options: AdapterOptions = {}) {
    this.#session = session;
    this.#options = options;
    const { names, toolsets } = options;
    const offered = session.toolsForLlm();
    for (const name of names ?? [])
      this.#require(
        "ToolNotFound",
        name,
        offered.map((tool) => tool.name),
      );
    const known = offered.flatMap((tool) => tool.toolsets);
    for (const name of toolsets ?? []) this.#require("ToolsetNotFound", name, known);
    // Reports names and collisions before a model is asked.
    this.listTools();
  }

  /** Every tool that the model may call, besides the search. */
  #findAllowed(): SessionTool[] {
    const { names, toolsets } = this.#options;
    return this.#session
      .toolsForLlm()
      .filter(
        (tool) =>
          (names === undefined || names.includes(tool.name)) &&
          (toolsets === undefined || tool.toolsets.some((one) => toolsets.includes(one))),
      );
  }

  /** The tools that a model gets at the moment. With `above` or `always`, they grow by what it finds. */
  listTools(): readonly SessionTool[] {
    const { above, always } = this.#options;
    const allowed = this.#findAllowed();
    if (!this.#isSearched) return allowed;
    // Also if there are few: the options are checked, and the model may know the search from before.
    const listed = this.#session.toolsForLlm({ above, always });
    if (allowed.length <= (above ?? defaultAbove)) return allowed;
    const names = new Set(allowed.map(({ name }) => name));
    return listed.filter(({ name }) => names.has(name) || name === searchToolName);
  }

  /** Whether the model may have been given the search. */
  get #isSearched(): boolean {
    const { above, always } = this.#options;
    return above !== undefined || always !== undefined;
  }

  #require(code: "ToolNotFound" | "ToolsetNotFound", name: string, known: readonly string[]): void {
    if (known.includes(name)) return;
    throw failure(code, {
      name: String(name),
      otherKind: undefined,
      nearest: findNearestNames(String(name), known),
    });
  }

  /**
   * Calls a tool with the arguments of a model, or with their JSON. A call that fails resolves. Rejects with the reason of
   * a signal that aborted it.
   */
  async call(name: unknown, written: unknown, signal?: AbortSignal): Promise<ToolResult> {
    const { signal: own, timeoutMs, onProgress, onLog } = this.#options;
    const signals = [own, signal].filter((one) => one !== undefined);
    const joined = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    joined?.throwIfAborted();
    const allowed = this.#findAllowed().map((tool) => tool.name);
    const isSearch = name === searchToolName && this.#isSearched;
    if (typeof name !== "string" || !(isSearch || allowed.includes(name))) {
      const known = this.#isSearched ? [...allowed, searchToolName] : allowed;
      return failedResult(describeUnknown(name, known));
    }
    const args = await readArguments(written);
    if ("fault" in args) return failedResult(args.fault);
    try {
      const among = isSearch ? allowed : undefined;
      const options = { signal: joined, timeoutMs, onProgress, onLog, among };
      const result = await this.#session.callTool(name, args.value, options);
      if (result.variant === "Success" || textOfResult(result).trim() !== "") return result;
      // APIs refuse a failure without words.
      return { ...result, ...failedResult("The tool failed without a message.", result.variant) };
    } catch (error) {
      joined?.throwIfAborted();
      if (error instanceof TrailblazeError) return failedResult(error.message);
      throw error;
    }
  }
}

function describeUnknown(name: unknown, known: readonly string[]): string {
  if (typeof name !== "string")
    return `The name of a tool must be a string, but it is ${describeType(name)}.`;
  const nearest = findNearestNames(name, known);
  const question = nearest.length === 0 ? "" : ` Did you mean ${listOf(nearest.map(printable))}?`;
  return `There is no tool ${quote(name)}.${question}`;
}

/** The arguments of a call: an object, or the JSON of one. Some models send nothing for a tool without arguments. */
async function readArguments(
  written: unknown,
): Promise<{ value: Record<string, unknown> } | { fault: string }> {
  let value = written;
  if (typeof written === "string") {
    if (written.trim() === "") return { value: {} };
    if (written.length > longestArguments)
      return {
        fault: `The arguments have ${written.length} characters, and at most ${longestArguments} are read.`,
      };
    try {
      ({ value } = parseJson(written, parseExactly));
    } catch (error) {
      if (!(error instanceof DataSyntaxError)) throw error;
      return { fault: await describeFault(error) };
    }
  }
  if (value === undefined || value === null) return { value: {} };
  if (!isRecord(value))
    return { fault: `The arguments must be a JSON object, but they are ${describeType(value)}.` };
  return { value };
}

/** What a model gets of a tool; its schema is a copy, because some SDKs change it. */
export function describeForModel({ name, description, title, inputSchema }: SessionTool) {
  const words = description ?? title;
  return {
    name,
    ...(words == null ? {} : { description: words }),
    schema: structuredClone(inputSchema),
  };
}

/** What a model gets of a block. */
export type Part = { text: string } | { data: string; mimeType: string };

/**
 * The text of a block, or the base64 data of an image, a sound or an embedded resource; words about it if the API does not
 * accept the type of the data. APIs refuse empty data.
 */
export function partOf(block: ContentBlock, accepts: (mimeType: string) => boolean): Part {
  const { resource, ...own } = block as Record<string, unknown>;
  const isEmbedded = block.type === "resource" && isRecord(resource);
  const { text, data, mimeType, name, uri } = isEmbedded ? { ...resource, data: resource.blob } : own;
  if (typeof text === "string" && (isEmbedded || block.type === "text")) return { text };
  const type = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  if (typeof data === "string" && data !== "" && accepts(type)) return { data, mimeType: type };
  const facts = [mimeType, name, uri].filter((one) => typeof one === "string").map((one) => printable(one));
  if (block.type === "resource_link") return { text: `[resource ${facts.join(", ")}]` };
  const known = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
  return { text: `[${printable(block.type)}${known} that this API cannot take]` };
}

/** A result as one text, for APIs that take nothing else. */
export function textOfResult({ content, message, structuredContent }: ToolResult): string {
  const texts = content
    .map((block) => partOf(block, () => false))
    .flatMap((part) => ("text" in part ? [part.text] : []));
  if (texts.length > 0) return texts.join("\n");
  if (message !== "") return message;
  return structuredContent === undefined ? "" : stringifyExactly(structuredContent);
}
