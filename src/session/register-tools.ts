import type { SessionConfig } from "../config/session-config.ts";
import {
  findCollisions,
  numberNames,
  type PrefixClaim,
  prefixNames,
} from "../qualified-names/advertised-names.ts";
import type { ToolSource } from "../runtime/tool-source.ts";
import { type DeviceContext, explainUnfit } from "./filter-tools.ts";
import type { SkippedTool, ToolCandidate } from "./session-tool.ts";

/** A source as text, for name collisions. */
export function formatSource({ type, pack, version, server, file }: ToolSource): string {
  const owner =
    type === "pack"
      ? `${pack}@${version ?? "(no version)"}`
      : type === "config"
        ? "the config"
        : "a built-in";
  const via = server === undefined ? "" : `, server ${server}`;
  return `${owner}${via}${file === undefined ? "" : ` (${file})`}`;
}

/** A tool's claim to its name, with the prefix that it gets if others claim the name: its pack's, or its server's. */
function describeClaim({ tool, route }: ToolCandidate): PrefixClaim {
  const { name, source } = tool;
  const { type, pack, item, server } = source;
  const own = route.by === "server" ? route.advertisedName : name;
  const hasPrefix = route.by === "server" && route.server.plan.choices?.prefix !== undefined;
  const prefix = pack === undefined ? server : pack.slice(pack.lastIndexOf("/") + 1);
  return {
    name,
    prefix: hasPrefix ? undefined : prefix,
    isBuiltIn: type === "builtIn",
    identity: JSON.stringify([type, pack ?? "", item ?? "", server ?? "", own]),
  };
}

/**
 * The tools that fit the session, in order and with unique names. Throws `TrailblazeError` `NameCollision` if names
 * collide, unless the config numbers or prefixes them.
 */
export function registerTools(
  candidates: readonly ToolCandidate[],
  context: DeviceContext,
  nameCollisions: SessionConfig["nameCollisions"],
): { registered: ToolCandidate[]; skipped: SkippedTool[] } {
  const registered: ToolCandidate[] = [];
  const skipped: SkippedTool[] = [];
  for (const candidate of candidates) {
    const { name, source } = candidate.tool;
    const unfit = explainUnfit(candidate.meta, context);
    if (unfit === undefined) registered.push(candidate);
    else skipped.push({ name, source, ...unfit });
  }
  if (nameCollisions !== "error") {
    const names =
      nameCollisions === "suffix"
        ? numberNames(registered.map(({ tool }) => tool.name))
        : prefixNames(registered.map(describeClaim));
    for (const [index, { tool }] of registered.entries()) tool.name = names[index] ?? tool.name;
    return { registered, skipped };
  }
  const claims = registered.map(({ tool }) => ({ name: tool.name, source: formatSource(tool.source) }));
  const collision = findCollisions(claims);
  if (collision !== undefined) throw collision;
  return { registered, skipped };
}
