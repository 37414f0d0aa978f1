import { DataSyntaxError } from "../data/decode.ts";
import { parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { failure, printable, TrailblazeError } from "../problems/index.ts";
import { listOf, quote } from "../problems/text.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { defaultAbove, searchToolName } from "../qualified-names/search-tool.ts";
import { type ContentBlock, failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { CallOptions } from "../session/call-listeners.ts";
import type { SessionTool } from "../session/items.ts";
import type { Session } from "../session/session.ts";
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

/** The arguments in a text of a model, or why there are none, with the position. Some models send nothing for none. */
async function parseArguments(text: string): Promise<{ value: unknown } | { fault: string }> {
  if (text.trim() === "") return { value: {} };
  try {
    return { value: parseJson(text, parseExactly).value ?? {} };
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, line, column } = describeSyntaxError(error);
    const place = line === undefined ? "" : ` at line ${line}, column ${column}`;
    return { fault: `The arguments cannot be used: ${reason}${place}. Send a JSON object.` };
  }
}

function describeUnknown(name: unknown, known: readonly string[]): string {
  if (typeof name !== "string")
    return `The name of a tool must be a string, but it is ${describeType(name)}.`;
  const nearest = findNearestNames(name, known);
  const question = nearest.length === 0 ? "" : ` Did you mean ${listOf(nearest.map(printable))}?`;
  return `There is no tool ${quote(name)}.${question}`;
}

const namesOf = (tools: readonly SessionTool[]) => tools.map(({ name }) => name);

/**
 * The tools of a session that a model gets, and how it calls them. Throws `TrailblazeError`: `ToolNotFound` and
 * `ToolsetNotFound` for names in the options that the session lacks.
 */
export function adaptTools(session: AdaptedSession, options: AdapterOptions = {}) {
  const { names, toolsets, above, always, signal: ofAll, timeoutMs, onProgress, onLog } = options;
  /** Whether the model may have been given the search. */
  const isSearched = above !== undefined || always !== undefined;

  const check = (code: "ToolNotFound" | "ToolsetNotFound", given: readonly string[], known: string[]) => {
    const unknown = given.find((name) => !known.includes(name));
    if (unknown === undefined) return;
    const nearest = findNearestNames(String(unknown), known);
    throw failure(code, { name: String(unknown), otherKind: undefined, nearest });
  };
  const offered = session.toolsForLlm();
  check("ToolNotFound", names ?? [], namesOf(offered));
  check(
    "ToolsetNotFound",
    toolsets ?? [],
    offered.flatMap((tool) => tool.toolsets),
  );

  /** Every tool that the model may call, besides the search. */
  const findAllowed = () =>
    session
      .toolsForLlm()
      .filter(
        (tool) =>
          (names === undefined || names.includes(tool.name)) &&
          (toolsets === undefined || tool.toolsets.some((one) => toolsets.includes(one))),
      );

  /** The tools that a model gets at the moment. With `above` or `always`, they grow by what it finds. */
  const list = (): readonly SessionTool[] => {
    const allowed = findAllowed();
    if (!isSearched) return allowed;
    // Also if there are few: the options are checked, and the model may know the search from before.
    const listed = session.toolsForLlm({ above, always });
    if (allowed.length <= (above ?? defaultAbove)) return allowed;
    const allowedNames = new Set(namesOf(allowed));
    return listed.filter(({ name }) => allowedNames.has(name) || name === searchToolName);
  };
  // Reports collisions before a model is asked.
  list();

  /**
   * Calls a tool with the arguments of a model, or with their JSON. A call that fails resolves. Rejects with the reason of
   * a signal that aborted it.
   */
  const call = async (name: unknown, given: unknown, ofCall?: AbortSignal): Promise<ToolResult> => {
    const signals = [ofAll, ofCall].filter((one) => one !== undefined);
    const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
    signal?.throwIfAborted();
    const allowed = namesOf(findAllowed());
    const known = isSearched ? [...allowed, searchToolName] : allowed;
    if (typeof name !== "string" || !known.includes(name)) return failedResult(describeUnknown(name, known));
    const args = typeof given === "string" ? await parseArguments(given) : { value: given ?? {} };
    if ("fault" in args) return failedResult(args.fault);
    try {
      const among = isSearched && name === searchToolName ? allowed : undefined;
      const result = await session.callTool(name, args.value, {
        signal,
        timeoutMs,
        onProgress,
        onLog,
        among,
      });
      if (result.variant === "Success" || textOfResult(result).trim() !== "") return result;
      // APIs refuse a failure without words.
      return { ...result, ...failedResult("The tool failed without a message.", result.variant) };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TrailblazeError) return failedResult(error.message);
      throw error;
    }
  };
  return { list, call };
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
