import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { Prompt } from "../mcp/client/server-lists.ts";
import type { InputRequired } from "../runtime/handler-context.ts";
import { readInputRequired } from "../runtime/input-rounds.ts";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "../runtime/mcp-shapes.ts";
import type { CodeUse } from "../runtime/pack-resource.ts";
import { type CodeOwner, placeOfCode } from "../runtime/tool-code.ts";
import type { PromptMessage, PromptResult } from "../runtime/tool-result.ts";

const escapeForPattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

/**
 * Matches placeholders for these arguments in a prompt's content, `{{name}}` with optional spaces, whose name is the first group;
 * `undefined` if there are no names. `${{ … }}` is an expression instead.
 */
function placesFor(names: Iterable<string>): RegExp | undefined {
  const choices = [...new Set(names)].filter((name) => name !== "").map(escapeForPattern);
  return choices.length === 0
    ? undefined
    : new RegExp(`(?<!\\$)\\{\\{\\s*(${choices.join("|")})\\s*\\}\\}`, "g");
}

/** A prompt of a pack. */
export interface PackPrompt {
  item: InspectedItem;
  /** Its entry in `prompts/list`. */
  listing: Prompt;
  /** Fills the content, or runs the handler. */
  get(
    args: Readonly<Record<string, string>>,
    use: CodeUse,
  ): Promise<PromptResult | { inputRequired: InputRequired }>;
}

export function createPackPrompt(item: InspectedItem, owner: CodeOwner): PackPrompt {
  const { content, handler: code, name, title, description, arguments: args, _meta } = item.definition ?? {};
  const meta = createEntryMeta(_meta, item.qualifiedName);
  const advertised = typeof name === "string" ? name : item.declaration.name;
  const values = { name: advertised, title, description, arguments: args, _meta: meta };
  const listing = createEntry("prompts", values) as unknown as Prompt;
  const shown = listing.description === undefined ? {} : { description: listing.description };
  const handler = placeOfCode(code, owner.root, "handler", item);
  return {
    item,
    listing,
    async get(given, { runner, context, leaveOut }) {
      if (content !== undefined) {
        const names = (listing.arguments ?? []).map(({ name }) => name);
        return repairPrompt({ messages: fillPrompt(content, given, names), ...shown }, leaveOut);
      }
      if (handler === undefined) throw new Error("The prompt has no content.");
      const outcome = await (await runner()).invoke(handler, { ...given }, context);
      if ("thrown" in outcome) throw new Error(outcome.thrown.message);
      const { returned } = outcome;
      if (returned.kind === "refused") throw new Error(returned.message);
      if (returned.kind === "input") return readInputRequired(returned.json);
      const answer =
        returned.kind === "json" ? JSON.parse(returned.json) : returned.kind === "text" ? returned.text : "";
      return repairPrompt({ ...shown, ...readPromptAnswer(answer) }, leaveOut);
    },
  };
}

/** Leaves out what clients cannot take. */
function repairPrompt<Answer extends { messages: unknown[] }>(answer: Answer, leaveOut?: LeaveOut): Answer {
  const fault = repairResult("prompts/get", answer, leaveOut);
  if (fault !== undefined) throw new Error(`The prompt did not return valid MCP messages: it ${fault}.`);
  return answer;
}

/** A message of a prompt, whose content may be a string. */
function asMessage({ role, content }: Readonly<Record<string, unknown>>): PromptMessage {
  const isBlock = isRecord(content) && typeof content.type === "string";
  return {
    role: role === "assistant" ? "assistant" : "user",
    content: isBlock ? (content as PromptMessage["content"]) : { type: "text", text: String(content) },
  };
}

/**
 * The messages of a prompt's `content`: a string is one message of the user, an array is used as it is. In every string but
 * keys, the placeholders of declared arguments are replaced, by an empty string if there is no value; those of undeclared
 * names stay as they are. `names` are the names of all declared arguments.
 */
export function fillPrompt(
  content: unknown,
  args: Readonly<Record<string, string>>,
  names: readonly string[],
): PromptMessage[] {
  const places = placesFor(names);
  const fill = (value: unknown): unknown => {
    if (typeof value === "string" && places !== undefined)
      return value.replace(places, (_, name: string) =>
        Object.hasOwn(args, name) ? (args[name] ?? "") : "",
      );
    if (Array.isArray(value)) return value.map(fill);
    if (!isRecord(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry)]));
  };
  const messages = Array.isArray(content) ? content.filter(isRecord) : [{ content: String(content) }];
  return messages.map(({ role, content: inner }) => asMessage({ role, content: fill(inner) }));
}

/** The messages that a prompt's handler returned: a string, or `{ messages }`, whose contents may be strings. */
function readPromptAnswer(answer: unknown): PromptResult {
  if (typeof answer === "string") return { messages: [asMessage({ content: answer })] };
  if (!isRecord(answer) || !Array.isArray(answer.messages))
    throw new Error("The prompt's handler must return a string or an object with `messages`.");
  const messages = answer.messages.filter(isRecord).map(asMessage);
  const { description } = answer;
  return typeof description === "string" ? { messages, description } : { messages };
}
