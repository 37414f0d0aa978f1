import { isRecord } from "../data/parse-json.ts";
import type { PromptMessage } from "./served-server.ts";

/** A place for an argument: `{{name}}`, white space allowed, but no `${{ … }}`. */
const place = /(?<!\$)\{\{\s*([A-Za-z0-9_-]+)\s*\}\}/g;

/** A text with its places filled. A place for an argument that was not given becomes empty. */
function fillText(text: string, args: Readonly<Record<string, string>>): string {
  return text.replace(place, (_, name: string) => (Object.hasOwn(args, name) ? (args[name] ?? "") : ""));
}

/** Every text of a value with its places filled; keys stay. */
function fill(value: unknown, args: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return fillText(value, args);
  if (Array.isArray(value)) return value.map((entry) => fill(entry, args));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill(entry, args)]));
}

const asContent = (content: unknown): PromptMessage["content"] =>
  isRecord(content) && typeof content.type === "string"
    ? (content as PromptMessage["content"])
    : { type: "text", text: String(content) };

/** The messages that a prompt's `content` stands for: a text is one of the user's, a list is taken as it is. */
export function fillPrompt(content: unknown, args: Readonly<Record<string, string>>): PromptMessage[] {
  if (!Array.isArray(content)) {
    return [{ role: "user", content: { type: "text", text: fillText(String(content), args) } }];
  }
  return content.filter(isRecord).map(({ role, content: inner }) => ({
    role: role === "assistant" ? "assistant" : "user",
    content: asContent(fill(inner, args)),
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
