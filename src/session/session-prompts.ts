import type { ListVerdict } from "../lock/gate.ts";
import type { AdvertisedPrompt } from "../mcp/client/connected-server.ts";
import { addPrefix, makeOwnName, offerNames } from "../qualified-names/advertised-names.ts";
import { createEntryMeta } from "../runtime/mcp-shapes.ts";
import { describeSource } from "../runtime/server-launches.ts";
import type { CodeOwner, ToolSource } from "../runtime/tool-source.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import { describeUnusable } from "./excluded.ts";
import {
  advertisedPrompt,
  createPackPrompt,
  type PackPrompt,
  type PromptTexts,
  readPromptTexts,
} from "./pack-prompt.ts";
import type { PlannedServer } from "./session-servers.ts";
import type { Skipped } from "./session-tool.ts";

/** A prompt of a session, as its users see it. Its strings are the author's and not trusted. */
export interface SessionPrompt extends PromptTexts {
  /** The advertised name, by which it is got. */
  name: string;
  /** `null` for a prompt of a subprocess or remote server. */
  qualifiedName: string | null;
  source: ToolSource;
  /** Has `trailblaze/originalName`, the server's own name, if clients would reject that. It can also be got by it. */
  _meta?: { "trailblaze/originalName": string };
}

/** How a prompt is got. */
export type PromptRoute =
  | { by: "code"; owner: CodeOwner; prompt: PackPrompt }
  | ({ by: "server"; advertisedName: string } & PlannedServer);

/** A prompt and what its registration and its requests need. */
export interface PromptCandidate {
  prompt: SessionPrompt;
  /** As MCP lists it, with any name. */
  listing: AdvertisedPrompt;
  route: PromptRoute;
}

/** The prompts that one source contributes to a session. */
export interface PromptContribution {
  prompts: PromptCandidate[];
  /** Why others are not offered. */
  skippedPrompts: Skipped[];
}

/** The prompts of a pack that the host runs. */
export function collectPackPrompts(
  { inspected, unusable }: CheckedPack,
  owner: CodeOwner,
): PromptContribution {
  const contribution: PromptContribution = { prompts: [], skippedPrompts: [] };
  for (const item of inspected.items) {
    if (item.declaration.kind !== "prompt") continue;
    const { definition, qualifiedName } = item;
    const source = describeSource(inspected, item);
    const name = advertisedPrompt(item);
    const problem = unusable.get(item);
    if (definition === null || problem !== undefined) {
      contribution.skippedPrompts.push(describeUnusable(name, source, problem));
      continue;
    }
    const prompt = createPackPrompt(item, owner);
    const { listing } = prompt;
    contribution.prompts.push({
      prompt: { name, qualifiedName, source, ...readPromptTexts(listing) },
      listing,
      route: { by: "code", owner, prompt },
    });
  }
  return contribution;
}

/** The prompts that a running server lists, in its order. `isAllowed` applies the policy for packs to its own names. */
export function collectServerPrompts(
  planned: PlannedServer,
  prompts: readonly AdvertisedPrompt[],
  isAllowed: (name: string) => boolean = () => true,
  verdict?: Pick<ListVerdict, "refused" | "reserved">,
): PromptContribution {
  const contribution: PromptContribution = { prompts: [], skippedPrompts: [] };
  const { source, choices } = planned.plan;
  const names = prompts.map(({ name }) => name);
  const offered = offerNames(choices?.prefix, names, verdict?.reserved?.prompts);
  for (const advertised of prompts) {
    const ownName = makeOwnName(choices?.prefix, advertised.name);
    const refusal = verdict?.refused.get(advertised);
    if (!isAllowed(advertised.name)) {
      const message = "The config's `packs` excludes it.";
      contribution.skippedPrompts.push({ name: ownName, source, reason: "Denied", message });
    } else if (refusal !== undefined) {
      contribution.skippedPrompts.push(describeUnusable(ownName, source, refusal));
    } else {
      const name = offered.get(advertised.name) ?? ownName;
      const texts = readPromptTexts(advertised);
      const prompt: SessionPrompt = { name, qualifiedName: null, source, ...texts };
      if (name !== addPrefix(choices?.prefix ?? "", advertised.name))
        prompt._meta = { "trailblaze/originalName": advertised.name };
      const listing = { ...advertised, _meta: createEntryMeta(advertised._meta, null, prompt._meta) };
      const route = { by: "server", ...planned, advertisedName: advertised.name } as const;
      contribution.prompts.push({ prompt, listing, route });
    }
  }
  return contribution;
}
