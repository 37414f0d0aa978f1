import { failure, type TrailblazeError } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { SessionTool, SkippedTool } from "./session-tool.ts";

/**
 * The error for a reference whose first part is a server of the config instead of a pack: tools of such servers have no
 * qualified names. `undefined` if the session has no such server.
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
