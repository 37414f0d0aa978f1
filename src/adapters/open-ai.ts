import type { ToolResult } from "../runtime/tool-result.ts";
import {
  type AdaptedSession,
  AdaptedTools,
  type AdapterOptions,
  type DeferOptions,
  dataOfBlock,
  describeBlock,
  describeForModel,
  textOfBlock,
  textOfResult,
} from "./adapted-tools.ts";

type JsonSchema = Record<string, unknown>;

/** A tool of the Responses API. */
export interface OpenAiTool {
  type: "function";
  name: string;
  description?: string;
  parameters: JsonSchema;
  /** A strict schema allows only a subset of JSON Schema. */
  strict: false;
  /** Set if the provider loads the tool when it finds it. */
  defer_loading?: true;
}

/** The provider's own search of tools. */
export interface OpenAiToolSearch {
  type: "tool_search";
}

/** A tool of the Chat Completions API. */
export interface OpenAiChatTool {
  type: "function";
  function: { name: string; description?: string; parameters: JsonSchema };
}

/** An item of the type `function_call` of the Responses API. */
export interface OpenAiFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
}

/** A call of the Chat Completions API. */
export interface OpenAiChatCall {
  id: string;
  type: string;
  function?: { name: string; arguments: string };
}

/** A part of a result in the Responses API. */
export type OpenAiPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; image_url: string; detail: "auto" }
  | { type: "input_file"; file_data: string; filename: string };

/** The item that answers a `function_call`. */
export interface OpenAiFunctionOutput {
  type: "function_call_output";
  call_id: string;
  output: string | OpenAiPart[];
}

/** The message that answers a call of the Chat Completions API. */
export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

/** The tools of a session for OpenAI's APIs. */
export interface OpenAiTools<Tool = OpenAiTool> {
  /** For the Responses API. Those of the moment: read it for each request if they can change. */
  readonly tools: Tool[];
  /** For the Chat Completions API, which has no search of its own. Also those of the moment. */
  readonly chatTools: OpenAiChatTool[];
  /**
   * Runs a call and resolves with the item or message to send back, also if the call fails. Rejects with the reason of a
   * signal that aborted it.
   */
  call(item: OpenAiFunctionCall, options?: { signal?: AbortSignal }): Promise<OpenAiFunctionOutput>;
  /** The same for a call of the Chat Completions API. */
  call(item: OpenAiChatCall, options?: { signal?: AbortSignal }): Promise<OpenAiToolMessage>;
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function toPart(block: ToolResult["content"][number]): OpenAiPart {
  const text = textOfBlock(block);
  if (text !== undefined) return { type: "input_text", text };
  const data = dataOfBlock(block);
  if (data !== undefined) {
    const url = `data:${data.mimeType};base64,${data.data}`;
    if (images.includes(data.mimeType)) return { type: "input_image", image_url: url, detail: "auto" };
    if (data.mimeType === "application/pdf")
      return { type: "input_file", file_data: url, filename: "document.pdf" };
  }
  return { type: "input_text", text: describeBlock(block) };
}

function toOutput(result: ToolResult): string | OpenAiPart[] {
  const parts = result.content.map(toPart);
  return parts.some(({ type }) => type !== "input_text") ? parts : textOfResult(result);
}

const isFunctionCall = (item: OpenAiFunctionCall | OpenAiChatCall): item is OpenAiFunctionCall =>
  item.type === "function_call";

/**
 * The tools of a session for OpenAI's Responses and Chat Completions APIs. Throws `TrailblazeError`: `ToolNotFound` and
 * `ToolsetNotFound` for names in the options that the session lacks.
 */
export function openAiTools(
  session: AdaptedSession,
  options?: AdapterOptions & { defer?: false },
): OpenAiTools;
/** The same, with the provider's own search of tools. */
export function openAiTools(
  session: AdaptedSession,
  options: AdapterOptions & DeferOptions,
): OpenAiTools<OpenAiTool | OpenAiToolSearch>;
export function openAiTools(
  session: AdaptedSession,
  options: AdapterOptions & DeferOptions = {},
): OpenAiTools<OpenAiTool | OpenAiToolSearch> {
  const adapted = new AdaptedTools(session, options);
  const described = () =>
    adapted.listTools().map((tool) => {
      const { schema: parameters, ...rest } = describeForModel(tool);
      return { ...rest, parameters };
    });
  async function call(
    item: OpenAiFunctionCall | OpenAiChatCall,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<OpenAiFunctionOutput | OpenAiToolMessage> {
    if (isFunctionCall(item)) {
      const result = await adapted.call(item.name, item.arguments, signal);
      return { type: "function_call_output", call_id: item.call_id, output: toOutput(result) };
    }
    const result = await adapted.call(item.function?.name, item.function?.arguments, signal);
    return { role: "tool", tool_call_id: item.id, content: textOfResult(result) };
  }
  return {
    get tools() {
      const deferred = adapted.findDeferred();
      const tools = described().map(
        (one): OpenAiTool => ({
          ...{ type: "function", ...one, strict: false },
          ...(deferred.has(one.name) ? { defer_loading: true } : {}),
        }),
      );
      return options.defer === true && tools.length > 0
        ? [...tools, { type: "tool_search" as const }]
        : tools;
    },
    get chatTools() {
      return described().map((one) => ({ type: "function" as const, function: one }));
    },
    call: call as OpenAiTools["call"],
  };
}
