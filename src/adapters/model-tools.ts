// A session's tools in the shapes of the APIs of models, and their calls.

import { parseExactly, stringifyExactly } from "../data/exact-integers.ts";
import { DataSyntaxError, describeType, isRecord, parseJson } from "../data/parse-json.ts";
import { failure, printable, TrailblazeError } from "../problems/index.ts";
import { listOf, quote } from "../problems/text.ts";
import { findNearestNames, unknownName } from "../qualified-names/nearest-names.ts";
import { type ContentBlock, failedResult, type ToolResult } from "../runtime/tool-result.ts";
import type { CallOptions } from "../session/host-functions.ts";
import type { SessionTool } from "../session/items.ts";
import type { Session } from "../session/session.ts";

/** What adapters use of a session. */
export type AdaptedSession = Pick<Session, "toolsForLlm" | "callTool">;

/** Which tools a model gets, and how its calls run. */
export interface AdapterOptions extends Pick<CallOptions, "signal" | "timeoutMs" | "onProgress" | "onLog"> {
  /** Only the tools of these toolsets, by their short names. */
  toolsets?: readonly string[] | undefined;
  /** Only these tools, by their advertised names. */
  names?: readonly string[] | undefined;
}

/** The arguments in a text of a model. Some models send nothing for none. Throws `InvalidArguments` with the position. */
async function parseArguments(text: string): Promise<unknown> {
  if (text.trim() === "") return {};
  try {
    return parseJson(text, parseExactly).value;
  } catch (error) {
    if (!(error instanceof DataSyntaxError)) throw error;
    const { describeSyntaxError } = await import("../data/json-positions.ts");
    const { reason, line, column } = describeSyntaxError(error);
    const place = line === undefined ? "" : ` at line ${line}, column ${column}`;
    throw failure("InvalidArguments", { reason: `The arguments cannot be used: ${reason}${place}` });
  }
}

function describeUnknown(name: string, known: readonly string[]): string {
  const nearest = findNearestNames(name, known);
  const question = nearest.length === 0 ? "" : ` Did you mean ${listOf(nearest.map(printable))}?`;
  return `The tool ${quote(name)} does not exist.${question}`;
}

/**
 * The tools of a session that a model gets, and how it calls them. Throws `TrailblazeError`: `ToolNotFound` and
 * `ToolsetNotFound` for names in the options that the session lacks.
 */
function adaptTools(session: AdaptedSession, options: AdapterOptions) {
  const { names, toolsets, signal: ofAll, timeoutMs, onProgress, onLog } = options;
  const offered = session.toolsForLlm();
  const limits = [
    ["ToolNotFound", names, offered.map((tool) => tool.name)],
    ["ToolsetNotFound", toolsets, offered.flatMap((tool) => tool.toolsets)],
  ] as const;
  for (const [code, limit = [], known] of limits) {
    const unknown = limit.find((name) => !known.includes(name));
    if (unknown !== undefined) throw unknownName(code, String(unknown), known);
  }
  const isChosen = (tool: SessionTool) =>
    (names === undefined || names.includes(tool.name)) &&
    (toolsets === undefined || tool.toolsets.some((one) => toolsets.includes(one)));
  /** The tools that a model gets at the moment. */
  const list = () => session.toolsForLlm().filter(isChosen);

  /**
   * Calls a tool with the arguments of a model, or with their JSON. A call that fails resolves. Rejects with the reason of
   * a signal that aborted it.
   */
  const call = async (name: string, input: unknown, ofCall?: AbortSignal): Promise<ToolResult> => {
    const signal = ofAll && ofCall ? AbortSignal.any([ofAll, ofCall]) : (ofAll ?? ofCall);
    signal?.throwIfAborted();
    const callable = list().map((tool) => tool.name);
    if (!callable.includes(name)) return failedResult(describeUnknown(String(name), callable));
    try {
      const args = typeof input === "string" ? await parseArguments(input) : input;
      return await session.callTool(name, args ?? {}, { signal, timeoutMs, onProgress, onLog });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TrailblazeError) return failedResult(error.message);
      throw error;
    }
  };
  return { list, call };
}

/** What a model gets of a tool but for its arguments. */
export interface DescribedTool {
  name: string;
  description?: string;
}

const describeForModel = ({ name, title, description = title }: SessionTool): DescribedTool =>
  description ? { name, description } : { name };

type Part = { text: string } | { data: string; mimeType: string };

/**
 * The text of a block, or the base64 data of an image, a sound or an embedded resource; words about it if the API does not
 * accept the type of the data. APIs refuse empty data.
 */
function partOf(block: ContentBlock, accepts: (mimeType: string) => boolean): Part {
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
function textOfResult({ variant, content, message, structuredContent }: ToolResult): string {
  const parts = content.map((block) => partOf(block, () => false));
  const text = parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n") || message;
  if (text.trim() !== "") return text;
  if (structuredContent !== undefined) return stringifyExactly(structuredContent);
  // APIs refuse a failure without words.
  return variant === "Success" ? "" : "The tool failed without a message.";
}

/** The schema of a tool's arguments as a Standard Schema, as AI SDK, LangChain and others take it. */
export function standardSchema({ inputSchema }: Pick<SessionTool, "inputSchema">) {
  /** For each reader its own. */
  const copy = (_options?: unknown): Record<string, unknown> => structuredClone(inputSchema);
  /** Checks only that the value is an object: the session validates the arguments of a call, and its result says what is wrong. */
  const validate = (value: unknown) => {
    if (isRecord(value)) return { value };
    return { issues: [{ message: `The arguments must be an object, but they are ${describeType(value)}.` }] };
  };
  return {
    "~standard": {
      version: 1 as const,
      vendor: "trailblaze",
      validate,
      jsonSchema: {
        /** The JSON Schema of what a call gets. */
        input: copy,
        /** The same: nothing is converted. */
        output: copy,
      },
      // Only its type counts: libraries infer from it what handlers get.
      types: undefined as { readonly input: unknown; readonly output: Record<string, unknown> } | undefined,
    },
  };
}

/** A tool, as `tools` of AI SDK's `generateText` and `streamText` takes it. */
export interface AiSdkTool {
  description?: string;
  title?: string;
  inputSchema: ReturnType<typeof standardSchema>;
  /** Resolves also if the call fails. Rejects with the reason of a signal that aborted it. */
  execute(
    input: unknown,
    options: { abortSignal?: AbortSignal | undefined; toolCallId: string },
  ): Promise<ToolResult>;
  /** What the model gets of a result. */
  toModelOutput: typeof toModelOutput;
}

function toModelOutput({ output }: { output: ToolResult }) {
  if (output.variant !== "Success") return { type: "error-text" as const, value: textOfResult(output) };
  const parts = output.content.map((block) => partOf(block, () => true));
  if (parts.every((part) => "text" in part)) return { type: "text" as const, value: textOfResult(output) };
  const value = parts.map((part) =>
    "text" in part
      ? { type: "text" as const, text: part.text }
      : { type: "file-data" as const, data: part.data, mediaType: part.mimeType },
  );
  return { type: "content" as const, value };
}

/**
 * The tools of a session for Vercel's AI SDK: `generateText({ model, tools: aiSdkTools(session) })`. Throws `TrailblazeError`:
 * `ToolNotFound` and `ToolsetNotFound` for names in the options that the session lacks.
 */
export function aiSdkTools(session: AdaptedSession, options: AdapterOptions = {}): Record<string, AiSdkTool> {
  const { list, call } = adaptTools(session, options);
  const tools = list().map((tool): [string, AiSdkTool] => {
    const { title } = tool;
    const { name, description } = describeForModel(tool);
    const adapted: AiSdkTool = {
      ...(description !== undefined && { description }),
      ...(title !== undefined && { title }),
      inputSchema: standardSchema(tool),
      execute: (input, { abortSignal }) => call(name, input, abortSignal),
      toModelOutput,
    };
    return [name, adapted];
  });
  return Object.fromEntries(tools);
}

const pdf = "application/pdf" as const;
const images = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const;

/** What a model gets of a block by an API that takes images and PDFs. */
const imageOrPdfOf = (block: ContentBlock): Part =>
  partOf(block, (type) => type === pdf || images.some((one) => one === type));

/** A part of a result in the Responses API. */
export type OpenAiPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; file_data: string; filename: string };

function toOpenAiPart(block: ContentBlock): OpenAiPart {
  const part = imageOrPdfOf(block);
  if ("text" in part) return { type: "input_text", text: part.text };
  const url = `data:${part.mimeType};base64,${part.data}`;
  return part.mimeType === pdf
    ? { type: "input_file", file_data: url, filename: "document.pdf" }
    : { type: "input_image", image_url: url, detail: "auto" };
}

/**
 * The tools of a session for OpenAI's Responses API. Throws `TrailblazeError`: `ToolNotFound` and `ToolsetNotFound` for names in
 * the options that the session lacks.
 */
export function openAiTools(session: AdaptedSession, options: AdapterOptions = {}) {
  const adapted = adaptTools(session, options);
  return {
    /** Those of the moment: read it for each request if they can change. */
    get tools() {
      return adapted.list().map((tool) =>
        Object.assign({ type: "function" as const }, describeForModel(tool), {
          // Some SDKs change it.
          parameters: structuredClone(tool.inputSchema),
          /** A strict schema allows only a subset of JSON Schema. */
          strict: false as const,
        }),
      );
    },
    /**
     * Runs an item of the type `function_call` and resolves with the item to send back, also if the call fails. Rejects with the
     * reason of a signal that aborted it.
     */
    async call(
      item: { type: "function_call"; call_id: string; name: string; arguments: string },
      { signal }: { signal?: AbortSignal } = {},
    ) {
      const result = await adapted.call(item.name, item.arguments, signal);
      const parts = result.content.map(toOpenAiPart);
      const output = parts.some(({ type }) => type !== "input_text") ? parts : textOfResult(result);
      return { type: "function_call_output" as const, call_id: item.call_id, output };
    },
  };
}

function toAnthropicPart(block: ContentBlock) {
  const part = imageOrPdfOf(block);
  if ("text" in part) return { type: "text" as const, ...part };
  const { data, mimeType } = part;
  if (mimeType === pdf)
    return { type: "document" as const, source: { type: "base64" as const, media_type: pdf, data } };
  const source = { type: "base64" as const, media_type: mimeType as (typeof images)[number], data };
  return { type: "image" as const, source };
}

/** The block that answers a `tool_use`. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: ReturnType<typeof toAnthropicPart>[];
  /** Set unless the call succeeded. */
  is_error?: true;
}

/** The API refuses texts without words. */
const isFilled = (part: ReturnType<typeof toAnthropicPart>) =>
  part.type !== "text" || part.text.trim() !== "";

/**
 * The tools of a session for Anthropic's Messages API. Throws `TrailblazeError`: `ToolNotFound` and `ToolsetNotFound` for
 * names in the options that the session lacks.
 */
export function anthropicTools(session: AdaptedSession, options: AdapterOptions = {}) {
  const adapted = adaptTools(session, options);
  return {
    /** Those of the moment: read it for each request if they can change. */
    get tools() {
      return adapted.list().map((tool) =>
        // Some SDKs change the schema.
        Object.assign(describeForModel(tool), { input_schema: structuredClone(tool.inputSchema) }),
      );
    },
    /**
     * Runs a block of the type `tool_use` and resolves with the block to send back, also if the call fails. Rejects with the reason
     * of a signal that aborted it.
     */
    async call(
      { id, name, input }: { type: "tool_use"; id: string; name: string; input: unknown },
      { signal }: { signal?: AbortSignal } = {},
    ): Promise<AnthropicToolResult> {
      const result = await adapted.call(name, input, signal);
      const failed = result.variant !== "Success";
      // The API takes nothing but text in a failure.
      const parts = failed ? [] : result.content.map(toAnthropicPart).filter(isFilled);
      if (parts.length === 0) parts.push({ type: "text", text: textOfResult(result) });
      const content = parts.filter(isFilled);
      return { type: "tool_result", tool_use_id: id, content, ...(failed && { is_error: true }) };
    },
  };
}
