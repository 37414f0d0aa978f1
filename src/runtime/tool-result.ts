import { carryIntegers } from "../data/exact-integers.ts";
import { isRecord, isText } from "../data/parse-json.ts";

/** How a call ended. */
export const variants = [
  "Success",
  "ExceptionThrown",
  "MissingRequiredArgs",
  "MaestroValidationError",
  "FatalError",
  "InputRequired",
] as const;
/** How a call ended: `Success`, `InputRequired` if it asks and gets no answer, or which failure. */
export type Variant = (typeof variants)[number];

/** The answer to a call, in the same form for every kind of tool. */
export interface ToolResult {
  variant: Variant;
  /** The first text block, else "". */
  message: string;
  content: ContentBlock[];
  /** Any JSON value. */
  structuredContent?: unknown;
  /** The tool's `_meta`, without `trailblaze`. */
  _meta?: Record<string, unknown>;
  /** The keys of a failure's `_meta.trailblaze` besides `variant`. */
  details?: Record<string, unknown>;
}

/** Converts a tool's answer for a session, with the `writes` to its memory that a success requests; `undefined` deletes. */
export function readToolResult(answer: CallToolResult): {
  result: ToolResult;
  writes: readonly (readonly [key: string, value: string | undefined])[];
} {
  const { content, structuredContent, isError, _meta = {} } = answer;
  const { trailblaze, ...meta } = _meta;
  carryIntegers(_meta, meta);
  const said = isRecord(trailblaze) ? trailblaze : {};
  const message = content.find((block) => block.type === "text")?.text ?? "";
  const result: ToolResult = { variant: "Success", message, content };
  carryIntegers(answer, result);
  if (structuredContent !== undefined) result.structuredContent = structuredContent;
  if (Object.keys(meta).length > 0) result._meta = meta;
  if (isError !== true) {
    const { memoryDelta, memoryDeletions } = said;
    const deleted = Array.isArray(memoryDeletions) ? memoryDeletions.filter(isText) : [];
    const written = Object.entries(isRecord(memoryDelta) ? memoryDelta : {});
    const delta = written.filter((entry): entry is [string, string] => isText(entry[1]));
    return { result, writes: [...deleted.map((key) => [key, undefined] as const), ...delta] };
  }
  const { variant, ...details } = said;
  const failures = variants.filter((one) => one !== "Success" && one !== "InputRequired");
  result.variant = failures.find((one) => one === variant) ?? "ExceptionThrown";
  if (Object.keys(details).length > 0) result.details = details;
  return { result, writes: [] };
}

/** The result of a call that failed without an answer from the tool. */
export function failedResult(
  message: string,
  variant: Exclude<Variant, "Success"> = "ExceptionThrown",
  details?: Record<string, unknown>,
): ToolResult {
  const content: ContentBlock[] = [{ type: "text", text: message }];
  return { variant, message, content, ...(details === undefined ? {} : { details }) };
}

/** What blocks of each type may have. */
type BlockKeys = { annotations?: Record<string, unknown>; _meta?: Record<string, unknown> };

/** Text, which is the author's or the server's and not trusted. */
export type TextBlock = { type: "text"; text: string } & BlockKeys;
/** An image; `data` is base64. */
export type ImageBlock = { type: "image"; data: string; mimeType: string } & BlockKeys;
/** A sound; `data` is base64. */
export type AudioBlock = { type: "audio"; data: string; mimeType: string } & BlockKeys;
/** The address of a resource, which `readResource` of its server reads. */
export type ResourceLinkBlock = {
  type: "resource_link";
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
} & BlockKeys;
/** What a resource contains, or a part of it: `text`, or `blob` in base64. */
export type ResourceContents = { uri: string; mimeType?: string; _meta?: Record<string, unknown> } & (
  | { text: string; blob?: never }
  | { blob: string; text?: never }
);
/** What reading a resource results in. Strings are the author's and not trusted. */
export interface ResourceResult {
  contents: readonly ResourceContents[];
  /** What its server adds. */
  _meta?: Readonly<Record<string, unknown>>;
}
/** Contents for a client. */
export interface ReadAnswer extends ResourceResult {
  /** Whether it is the same for each client and read, so that clients may keep it as long as lists. */
  isStatic?: boolean;
}
/** A message of a prompt: who says it, and a block of MCP content. */
export interface PromptMessage {
  role: "user" | "assistant";
  content: { type: string } & Record<string, unknown>;
}
/** The messages of a prompt. Strings are the author's and not trusted. */
export interface PromptResult {
  description?: string | undefined;
  messages: PromptMessage[];
}
/** A resource with its contents. */
export type EmbeddedResourceBlock = {
  type: "resource";
  resource: ResourceContents;
} & BlockKeys;

/** A block of MCP content; `type` says which. A server's block of another type becomes a text that names it. */
export type ContentBlock = TextBlock | ImageBlock | AudioBlock | ResourceLinkBlock | EmbeddedResourceBlock;

/** The result of MCP's `tools/call`. */
export interface CallToolResult {
  content: ContentBlock[];
  /** Any JSON value. Legacy clients get it only if it is an object. */
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: Record<string, unknown>;
}
