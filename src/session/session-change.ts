import type { Problem } from "../problems/index.ts";
import type { SessionState } from "./session-state.ts";

/** What a change of the project, or of a server, changed in a session. */
export interface SessionChange {
  /** Whether `session.tools` or what `toolsForLlm()` returns has changed. */
  tools: boolean;
  /** Whether `session.prompts` has changed. */
  prompts: boolean;
  /** Set if `session.resources`, or a pack whose resources it has, has changed. */
  resources?: true;
  /** The problems that the session did not have before. */
  problems: readonly Problem[];
}

/** The tools as clients see them. An update that changes only a version changes nothing for them. */
const describeTools = (state: SessionState) => {
  const shown = new Set(state.toolsForLlm());
  return JSON.stringify(
    state.tools.map((tool) => [{ ...tool, source: { ...tool.source, version: undefined } }, shown.has(tool)]),
  );
};

const describePrompts = ({ prompts }: SessionState) =>
  JSON.stringify(
    prompts.map(({ prompt }) => ({ ...prompt, source: { ...prompt.source, version: undefined } })),
  );

/** With the content of their packs: what their handlers read may have changed, too. */
const describeResources = ({ resources }: SessionState) =>
  JSON.stringify(
    resources.map(({ resource, listing, route }) => [
      listing,
      { ...resource.source, version: undefined },
      ...(route.by === "code" ? [route.resource.item.definition, route.resource.owner.content] : []),
    ]),
  );

/** The lists that differ between two states; `undefined` if none does. */
export function findSessionChange(
  before: SessionState,
  after: SessionState,
): Omit<SessionChange, "problems"> | undefined {
  const tools = describeTools(before) !== describeTools(after);
  const prompts = describePrompts(before) !== describePrompts(after);
  const resources = describeResources(before) !== describeResources(after);
  return tools || prompts || resources ? { tools, prompts, ...(resources ? { resources } : {}) } : undefined;
}

/** The problems of `after` that `before` does not have. */
export function findNewProblems(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = new Set(before.map((problem) => JSON.stringify(problem)));
  return after.filter((problem) => !known.has(JSON.stringify(problem)));
}
