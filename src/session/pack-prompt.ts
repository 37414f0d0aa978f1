import { isRecord } from "../data/parse-json.ts";
import type { InspectedItem } from "../inspection/types.ts";
import type { PromptAnswer } from "../mcp/served-server.ts";
import type { InputRound } from "../runtime/input-requests.ts";
import { requireInputRequired } from "../runtime/input-rounds.ts";
import type { CodeUse } from "../runtime/pack-resource.ts";
import { placeOfCode } from "../runtime/tool-code.ts";
import type { CodeOwner } from "../runtime/tool-source.ts";
import { fillPrompt, readPromptAnswer } from "./prompt-content.ts";

/** An argument of a prompt; its value is a string. */
export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

/** What a prompt says about itself. Strings are the author's and not trusted. */
export interface PromptTexts {
  title?: string;
  description?: string | undefined;
  arguments: PromptArgument[];
}

/** A prompt of a pack. */
export interface PackPrompt extends PromptTexts {
  /** Fills the content, or runs the handler, with the answers to its questions if it asked before. */
  get(args: Readonly<Record<string, string>>, use: CodeUse, round?: InputRound): Promise<PromptAnswer>;
}

/** The advertised name of a prompt of a pack. */
export const advertisedPrompt = ({ definition, declaration }: InspectedItem) =>
  typeof definition?.name === "string" ? definition.name : declaration.name;

/** Reads a definition, or an entry of a server's list. Keys of the wrong type are left out. */
export function readPromptTexts(definition: object): PromptTexts {
  const { title, description, arguments: args } = definition as Record<string, unknown>;
  return {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    arguments: (Array.isArray(args) ? args.filter(isRecord) : []).map((one) => ({
      name: String(one.name),
      ...(typeof one.title === "string" ? { title: one.title } : {}),
      ...(typeof one.description === "string" ? { description: one.description } : {}),
      ...(typeof one.required === "boolean" ? { required: one.required } : {}),
    })),
  };
}

/** The names of the required arguments that are not given. */
export const findMissingArguments = (args: readonly PromptArgument[], given: object): string[] =>
  args.filter(({ name, required }) => required && !Object.hasOwn(given, name)).map(({ name }) => name);

export function createPackPrompt(item: InspectedItem, owner: CodeOwner): PackPrompt {
  const texts = readPromptTexts(item.definition ?? {});
  const { content, handler: code } = item.definition ?? {};
  const shown = texts.description === undefined ? {} : { description: texts.description };
  const handler = placeOfCode(code, owner.root, "handler", item);
  return {
    ...texts,
    async get(given, { runner, context }, round) {
      if (content !== undefined) {
        const names = texts.arguments.map(({ name }) => name);
        return { messages: fillPrompt(content, given, names), ...shown };
      }
      if (handler === undefined) throw new Error("The prompt has no content.");
      const outcome = await (await runner()).invoke(handler, { ...given }, { ...context, ...round });
      if ("thrown" in outcome) throw new Error(outcome.thrown.message);
      const { returned } = outcome;
      if (returned.kind === "refused") throw new Error(returned.message);
      if (returned.kind === "input") return requireInputRequired(returned.json);
      const answer =
        returned.kind === "json" ? JSON.parse(returned.json) : returned.kind === "text" ? returned.text : "";
      return { ...shown, ...readPromptAnswer(answer) };
    },
  };
}
