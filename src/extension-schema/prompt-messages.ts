import { isRecord } from "../data/parse-json.ts";
import { quote } from "../problems/index.ts";
import { type Fault, formatPath } from "./describe-fault.ts";
import { describeWritten } from "./describe-written.ts";

const example = "A message is `{ role: user, content: Hello }`.";

function describeRole(role: unknown): string {
  return typeof role === "string" ? quote(role, 40) : describeWritten(role);
}

function* checkMessage(message: unknown, index: number): Generator<Fault> {
  const path = ["content", index];
  if (!isRecord(message)) {
    const reason = `${formatPath(path)} must be a map, but is ${describeWritten(message)}`;
    yield { reason, path, hint: example };
    return;
  }
  const { role, content } = message;
  if (role !== "user" && role !== "assistant") {
    const isMissing = role === undefined;
    const at = isMissing ? path : [...path, "role"];
    const reason = isMissing
      ? `${formatPath(path)} lacks \`role\``
      : `${formatPath(at)} must be \`user\` or \`assistant\`, but is ${describeRole(role)}`;
    const hint =
      role === "system" ? "MCP knows no such role: say it in the first message of the user." : example;
    yield { reason, path: at, hint };
  }
  const isBlock = isRecord(content) && typeof content.type === "string" && content.type.trim() !== "";
  if (typeof content === "string" || isBlock) return;
  const isMissing = content === undefined;
  const at = isMissing ? path : [...path, "content"];
  const reason = isMissing
    ? `${formatPath(path)} lacks \`content\``
    : `${formatPath(at)} must be a text or one content block with a \`type\`, but is ${describeWritten(content)}`;
  yield { reason, path: at, hint: example };
}

/** More broken messages tell nobody more. */
const maximumFaults = 20;

/** What is wrong with the `content` of a prompt: a text, or a list of messages. Faults stand at their message. */
export function findContentFaults(content: unknown): Fault[] {
  if (typeof content === "string" || content === undefined) return [];
  if (!Array.isArray(content)) {
    const reason = `\`content\` must be a text or a list of messages, but is ${describeWritten(content)}`;
    return [{ reason, path: ["content"], hint: example }];
  }
  return content.flatMap((message, index) => [...checkMessage(message, index)]).slice(0, maximumFaults);
}
