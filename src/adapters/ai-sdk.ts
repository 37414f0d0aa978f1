import { describeType, isRecord } from "../data/parse-json.ts";
import { searchToolName } from "../qualified-names/search-tool.ts";
import type { ToolResult } from "../runtime/tool-result.ts";
import type { SessionTool } from "../session/items.ts";
import {
  type AdaptedSession,
  type AdapterOptions,
  adaptTools,
  describeForModel,
  type Part,
  partOf,
  textOfResult,
} from "./adapted-tools.ts";

/** A JSON Schema as a Standard Schema, as AI SDK, LangChain and others take it. */
export interface ToolSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "trailblaze";
    /** Checks only that the value is an object: the session validates the arguments of a call, and its result says what is wrong. */
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Record<string, unknown>; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      /** A copy of the JSON Schema. */
      readonly input: (options?: unknown) => Record<string, unknown>;
      /** The same: nothing is converted. */
      readonly output: (options?: unknown) => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: Record<string, unknown> };
  };
}

/** The schema of a tool's arguments as a Standard Schema. Each reader gets a copy of the JSON Schema. */
export function standardSchema({ inputSchema }: Pick<SessionTool, "inputSchema">): ToolSchema {
  const copy = (): Record<string, unknown> => structuredClone(inputSchema);
  return {
    "~standard": {
      version: 1,
      vendor: "trailblaze",
      validate: (value) =>
        isRecord(value)
          ? { value }
          : {
              issues: [{ message: `The arguments must be an object, but they are ${describeType(value)}.` }],
            },
      jsonSchema: { input: copy, output: copy },
    },
  };
}

/** A part of a result, as AI SDK gives it to models. */
export type AiSdkPart =
  | { type: "text"; text: string }
  | { type: "file-data"; data: string; mediaType: string };

/** A result, as AI SDK gives it to models. */
export type AiSdkOutput =
  | { type: "text"; value: string }
  | { type: "error-text"; value: string }
  | { type: "content"; value: AiSdkPart[] };

/** A tool, as `tools` of AI SDK's `generateText` and `streamText` takes it. */
export interface AiSdkTool {
  description?: string;
  title?: string;
  inputSchema: ToolSchema;
  /** Resolves also if the call fails. Rejects with the reason of a signal that aborted it. */
  execute(
    input: unknown,
    options: { abortSignal?: AbortSignal | undefined; toolCallId: string },
  ): Promise<ToolResult>;
  /** What the model gets of a result. */
  toModelOutput(options: { output: ToolResult }): AiSdkOutput;
}

function toModelOutput({ output }: { output: ToolResult }): AiSdkOutput {
  if (output.variant !== "Success") return { type: "error-text", value: textOfResult(output) };
  const parts = output.content.map((block) => partOf(block, () => true));
  if (parts.every((part) => "text" in part)) return { type: "text", value: textOfResult(output) };
  const toPart = (part: Part): AiSdkPart =>
    "text" in part
      ? { type: "text", text: part.text }
      : { type: "file-data", data: part.data, mediaType: part.mimeType };
  return { type: "content", value: parts.map(toPart) };
}

/**
 * The tools of a session for Vercel's AI SDK: `generateText({ model, tools: aiSdkTools(session) })`. With `above` or `always`,
 * what the model finds joins the object, for its next step. Throws `TrailblazeError`:
 * `ToolNotFound` and `ToolsetNotFound` for names in the options that the session lacks.
 */
export function aiSdkTools(session: AdaptedSession, options: AdapterOptions = {}): Record<string, AiSdkTool> {
  const adapted = adaptTools(session, options);
  const tools: Record<string, AiSdkTool> = {};
  const createTool = (tool: SessionTool): AiSdkTool => {
    const { description } = describeForModel(tool);
    return {
      ...(description === undefined ? {} : { description }),
      ...(tool.title === undefined ? {} : { title: tool.title }),
      inputSchema: standardSchema(tool),
      async execute(input, { abortSignal }) {
        const result = await adapted.call(tool.name, input, abortSignal);
        if (tool.name === searchToolName && result.variant === "Success") addTools();
        return result;
      },
      toModelOutput,
    };
  };
  // AI SDK reads the object again for each step.
  const addTools = () => {
    for (const tool of adapted.list()) {
      if (Object.hasOwn(tools, tool.name)) continue;
      // Not an assignment, which a tool called `__proto__` would turn into another thing.
      Object.defineProperty(tools, tool.name, {
        value: createTool(tool),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  };
  addTools();
  return tools;
}
