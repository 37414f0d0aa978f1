import type { ContentBlock } from "../runtime/tool-result.ts";
import {
  type AdaptedSession,
  type AdapterOptions,
  adaptTools,
  describeForModel,
  partOf,
  textOfResult,
} from "./adapted-tools.ts";

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: { type: "object" } & Record<string, unknown>;
}

/** A block of the type `tool_use`. */
export interface AnthropicToolUse {
  type: "tool_use";
  id: string;
  name: string;
  input: unknown;
}

type AnthropicImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** A part of a result. */
export type AnthropicPart =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImageType; data: string } }
  | { type: "document"; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/** The block that answers a `tool_use`. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: AnthropicPart[];
  /** Set unless the call succeeded. */
  is_error?: true;
}

/** The tools of a session for Anthropic's Messages API. */
export interface AnthropicTools {
  /** Those of the moment: read it for each request if they can change. */
  readonly tools: AnthropicTool[];
  /**
   * Runs a call and resolves with the block to send back, also if the call fails. Rejects with the reason of a signal that
   * aborted it.
   */
  call(block: AnthropicToolUse, options?: { signal?: AbortSignal }): Promise<AnthropicToolResult>;
}

const pdf = "application/pdf";
const images: readonly AnthropicImageType[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

function toPart(block: ContentBlock): AnthropicPart {
  const part = partOf(block, (type) => type === pdf || images.some((one) => one === type));
  if ("text" in part) return { type: "text", ...part };
  const { data, mimeType } = part;
  return mimeType === pdf
    ? { type: "document", source: { type: "base64", media_type: pdf, data } }
    : { type: "image", source: { type: "base64", media_type: mimeType as AnthropicImageType, data } };
}

/** The API refuses texts without words. */
const isFilled = (part: AnthropicPart): boolean => part.type !== "text" || part.text.trim() !== "";

/**
 * The tools of a session for Anthropic's Messages API. Throws `TrailblazeError`: `ToolNotFound` and `ToolsetNotFound` for
 * names in the options that the session lacks.
 */
export function anthropicTools(session: AdaptedSession, options: AdapterOptions = {}): AnthropicTools {
  const adapted = adaptTools(session, options);
  return {
    get tools() {
      return adapted.list().map((tool): AnthropicTool => {
        const { schema, ...rest } = describeForModel(tool);
        return { ...rest, input_schema: schema };
      });
    },
    async call({ id, name, input }, { signal } = {}) {
      const result = await adapted.call(name, input, signal);
      const failed = result.variant !== "Success";
      // The API takes nothing but text in a failure.
      const parts = failed ? [] : result.content.map(toPart).filter(isFilled);
      if (parts.length === 0) parts.push({ type: "text", text: textOfResult(result) });
      const content = parts.filter(isFilled);
      return { type: "tool_result", tool_use_id: id, content, ...(failed ? { is_error: true } : {}) };
    },
  };
}
