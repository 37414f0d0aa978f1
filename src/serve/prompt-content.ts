import { isRecord } from "../data/parse-json.ts";
import { placesFor } from "../extension-schema/prompt-messages.ts";
import type { PromptMessage } from "../mcp/served-server.ts";

type Fill = (text: string) => string;

/**
 * Fills the places for the arguments that are declared. One that was not given leaves its place empty; what looks like a
 * place for any other stays as it is.
 */
function createFill(args: Readonly<Record<string, string>>, names: readonly string[]): Fill {
  const places = placesFor(names);
  if (places === undefined) return (text) => text;
  return (text) =>
    text.replace(places, (_, name: string) => (Object.hasOwn(args, name) ? (args[name] ?? "") : ""));
}

/** Every text of a value with its places filled; keys stay. */
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
 * The messages that a prompt's `content` stands for: a text is one of the user's, a list is taken as it is. `names` are
 * those of all arguments that the prompt declares.
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

/** What a prompt's handler returned as messages: a text, or `{ messages }`, whose contents may be texts. */
export function readPromptAnswer(answer: unknown): { messages: PromptMessage[]; description?: string } {
  if (typeof answer === "string") {
    return { messages: [{ role: "user", content: { type: "text", text: answer } }] };
  }
  if (!isRecord(answer) || !Array.isArray(answer.messages)) {
    throw new Error("The prompt's handler answered with neither a text nor messages.");
  }
  const messages = answer.messages.filter(isRecord).map(({ role, content }) => ({
    role: role === "assistant" ? ("assistant" as const) : ("user" as const),
    content: asContent(content),
  }));
  const { description } = answer;
  return typeof description === "string" ? { messages, description } : { messages };
}
