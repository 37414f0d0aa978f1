import type { ContentBlock, ToolResult } from "../runtime/tool-result.ts";
import {
  type AdaptedSession,
  type AdapterOptions,
  adaptTools,
  describeForModel,
  partOf,
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
}

/** An item of the type `function_call` of the Responses API. */
export interface OpenAiFunctionCall {
  type: "function_call";
  call_id: string;
  name: string;
  arguments: string;
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

/** The tools of a session for OpenAI's Responses API. */
export interface OpenAiTools {
  /** Those of the moment: read it for each request if they can change. */
  readonly tools: OpenAiTool[];
  /**
   * Runs a call and resolves with the item to send back, also if the call fails. Rejects with the reason of a signal that
   * aborted it.
   */
  call(item: OpenAiFunctionCall, options?: { signal?: AbortSignal }): Promise<OpenAiFunctionOutput>;
}

const images = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const pdf = "application/pdf";

function toPart(block: ContentBlock): OpenAiPart {
  const part = partOf(block, (type) => type === pdf || images.includes(type));
  if ("text" in part) return { type: "input_text", text: part.text };
  const url = `data:${part.mimeType};base64,${part.data}`;
  return part.mimeType === pdf
    ? { type: "input_file", file_data: url, filename: "document.pdf" }
    : { type: "input_image", image_url: url, detail: "auto" };
}

function toOutput(result: ToolResult): string | OpenAiPart[] {
  const parts = result.content.map(toPart);
  return parts.some(({ type }) => type !== "input_text") ? parts : textOfResult(result);
}

/**
 * The tools of a session for OpenAI's Responses API. Throws `TrailblazeError`: `ToolNotFound` and `ToolsetNotFound` for names in
 * the options that the session lacks.
 */
export function openAiTools(session: AdaptedSession, options: AdapterOptions = {}): OpenAiTools {
  const adapted = adaptTools(session, options);
  return {
    get tools() {
      return adapted.list().map((tool): OpenAiTool => {
        const { schema: parameters, ...rest } = describeForModel(tool);
        return { type: "function", ...rest, parameters, strict: false };
      });
    },
    async call(item, { signal } = {}) {
      const result = await adapted.call(item.name, item.arguments, signal);
      return { type: "function_call_output", call_id: item.call_id, output: toOutput(result) };
    },
  };
}
