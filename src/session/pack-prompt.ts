import type { InspectedItem } from "../inspection/types.ts";
import type { AdvertisedPrompt } from "../mcp/client/connected-server.ts";
import type { PromptAnswer } from "../mcp/served-server.ts";
import { requireInputRequired } from "../runtime/input-rounds.ts";
import { createEntry, createEntryMeta, type LeaveOut, repairResult } from "../runtime/mcp-shapes.ts";
import type { CodeUse } from "../runtime/pack-resource.ts";
import { type CodeOwner, placeOfCode } from "../runtime/tool-code.ts";
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
export interface PackPrompt {
  item: InspectedItem;
  /** Its entry in `prompts/list`. */
  listing: AdvertisedPrompt;
  /** Fills the content, or runs the handler. */
  get(args: Readonly<Record<string, string>>, use: CodeUse): Promise<PromptAnswer>;
}

/** The advertised name of a prompt of a pack. */
const advertisedPrompt = ({ definition, declaration }: InspectedItem) =>
  typeof definition?.name === "string" ? definition.name : declaration.name;

/** What an entry of a list says about a prompt. */
export const readPromptTexts = ({
  title,
  description,
  arguments: args = [],
}: AdvertisedPrompt): PromptTexts => ({
  ...(title === undefined ? {} : { title }),
  ...(description === undefined ? {} : { description }),
  arguments: args,
});

/** The names of the required arguments that are not given. */
export const findMissingArguments = (args: readonly PromptArgument[], given: object): string[] =>
  args.filter(({ name, required }) => required && !Object.hasOwn(given, name)).map(({ name }) => name);

export function createPackPrompt(item: InspectedItem, owner: CodeOwner): PackPrompt {
  const { content, handler: code, title, description, arguments: args, _meta } = item.definition ?? {};
  const meta = createEntryMeta(_meta, item.qualifiedName);
  const values = { name: advertisedPrompt(item), title, description, arguments: args, _meta: meta };
  const listing = createEntry("prompts", values) as unknown as AdvertisedPrompt;
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
      if (returned.kind === "input") return requireInputRequired(returned.json);
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
