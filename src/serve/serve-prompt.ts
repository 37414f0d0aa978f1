import { isRecord } from "../data/parse-json.ts";
import { qualifiedNameKey } from "../extension-schema/meta-keys.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { CallChannel, ServedPrompt } from "../mcp/served-server.ts";
import type { HandlerContext } from "../runtime/handler-context.ts";
import { readInputRequired } from "../runtime/input-rounds.ts";
import type { OutcomeRunner } from "../runtime/tool-code.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { fillPrompt, readPromptAnswer } from "./prompt-content.ts";

const textOf = (value: unknown, other: string) => (typeof value === "string" ? value : other);

/** The advertised name of a prompt. */
export const advertisedPrompt = ({ definition, declaration }: InspectedItem) =>
  textOf(definition?.name, declaration.name);

function describeArgument({ name, description, required }: Record<string, unknown>) {
  return {
    name: String(name),
    ...(typeof description === "string" ? { description } : {}),
    ...(typeof required === "boolean" ? { required } : {}),
  };
}

/** Serves a prompt of a pack. `createContext` creates its handler's context. */
export function servePrompt(
  item: InspectedItem,
  name: string,
  owner: CodeOwner,
  runnerOf: () => Promise<OutcomeRunner>,
  createContext: (channel: CallChannel) => HandlerContext,
): ServedPrompt {
  const definition = item.definition ?? {};
  const { title, description, content } = definition;
  const args = Array.isArray(definition.arguments) ? definition.arguments.filter(isRecord) : [];
  const handler = placeOfCode(definition.handler, owner.root, "handler", item);
  return {
    name,
    listing: {
      name,
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof description === "string" ? { description } : {}),
      ...(args.length > 0 ? { arguments: args.map(describeArgument) } : {}),
      _meta: { [qualifiedNameKey]: item.qualifiedName },
    },
    required: args.filter(({ required }) => required === true).map((one) => String(one.name)),
    get: async (given, channel, round) => {
      const shown = typeof description === "string" ? { description } : {};
      if (content !== undefined) {
        const names = args.map((one) => String(one.name));
        return { messages: fillPrompt(content, given, names), ...shown };
      }
      if (handler === undefined) throw new Error("The prompt has no content.");
      const context = { ...createContext(channel), ...round };
      const runner = await runnerOf();
      const outcome = await runner.invoke(handler, { ...given }, context);
      if ("thrown" in outcome) throw new Error(outcome.thrown.message);
      const { returned } = outcome;
      if (returned.kind === "refused") throw new Error(returned.message);
      if (returned.kind === "input") {
        const asked = await readInputRequired(returned.json);
        if ("fault" in asked) throw new Error(asked.fault);
        return asked;
      }
      const answer =
        returned.kind === "json" ? JSON.parse(returned.json) : returned.kind === "text" ? returned.text : "";
      return { ...shown, ...readPromptAnswer(answer) };
    },
  };
}
