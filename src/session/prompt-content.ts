import { isRecord } from "../data/parse-json.ts";
import { placesFor } from "../extension-schema/prompt-messages.ts";
import type { PromptMessage } from "../mcp/served-server.ts";

type Fill = (text: string) => string;

/**
 * Replaces the placeholders of declared arguments. A missing argument is replaced by an empty string; placeholders of
 * undeclared names stay as they are.
 */
function createFill(args: Readonly<Record<string, string>>, names: readonly string[]): Fill {
  const places = placesFor(names);
  if (places === undefined) return (text) => text;
  return (text) =>
    text.replace(places, (_, name: string) => (Object.hasOwn(args, name) ? (args[name] ?? "") : ""));
}

/** Replaces placeholders in every string of a value except keys. */
function fillAll(value: unknown, fill: Fill): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((entry) => fillAll(entry, fill));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fillAll(entry, fill)]));
}

const asContent = (content: unknown): PromptMessage["content"] =>
  isRecord(content) && typeof content.type === "string"
    ? (content as PromptMessage["content"])
    : { type: "text", text: String(content) };

/**
 * The messages of a prompt's `content`: a string is one message of the user, an array is used as it is. `names` are the
 * names of all declared arguments.
 */
export function fillPrompt(
  content: unknown,
  args: Readonly<Record<string, string>>,
  names: readonly string[],
): PromptMessage[] {
  const fill = createFill(args, names);
  if (!Array.isArray(content)) {
    return [{ role: "user", content: { type: "text", text: fill(String(content)) } }];
  }
  return content.filter(isRecord).map(({ role, content: inner }) => ({
    role: role === "assistant" ? "assistant" : "user",
    content: asContent(fillAll(inner, fill)),
  }));
}

/** The messages that a prompt's handler returned: a string, or `{ messages }`, whose contents may be strings. */
export function readPromptAnswer(answer: unknown): { messages: PromptMessage[]; description?: string } {
  if (typeof answer === "string") {
    return { messages: [{ role: "user", content: { type: "text", text: answer } }] };
  }
  if (!isRecord(answer) || !Array.isArray(answer.messages)) {
    throw new Error("The prompt's handler must return a string or an object with `messages`.");
  }
  const messages = answer.messages.filter(isRecord).map(({ role, content }) => ({
    role: role === "assistant" ? ("assistant" as const) : ("user" as const),
    content: asContent(content),
  }));
  const { description } = answer;
  return typeof description === "string" ? { messages, description } : { messages };
}
