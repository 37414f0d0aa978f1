import { failure, type TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { SessionTool, SkippedTool } from "./session-tool.ts";

/**
 * Explains a reference that begins with the name of a server of the config and was taken for a pack's: tools of
 * servers have no qualified names. `undefined` where the session has no such server.
 */
export function explainServerReference(
  reference: string,
  tools: readonly Pick<SessionTool, "name" | "source">[],
  skipped: readonly SkippedTool[] = [],
): TrailblazeError | undefined {
  const [server = "", ...rest] = reference.split("/");
  const isOfServer = ({ source }: Pick<SessionTool, "source">) =>
    source.type === "config" && source.server === server;
  if (![...tools, ...skipped].some(isOfServer)) return undefined;
  const name = rest.join("/");
  const names = tools.filter(isOfServer).map((tool) => tool.name);
  const nearest = names.includes(name) ? [name] : findNearestNames(name, names);
  return failure("ToolNotFound", { name: reference, otherKind: undefined, nearest, server });
}
