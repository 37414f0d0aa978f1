import type { Device, SessionConfig } from "../config/session-config.ts";
import type { Kind } from "../kinds.ts";
import { failure, type Problem, quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/index.ts";
import type { ToolSource } from "../runtime/tool-code.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { CheckedPack } from "../validate/checked-pack.ts";
import type { SessionItem, SessionToolset, Skipped, SkippedTool, SkipReason } from "./items.ts";

/** Only excluded tools, servers and skills are reported: toolsets and prompts offer nothing by themselves. */
export const isReported = (kind: Kind | undefined): kind is "tool" | "server" | "skill" =>
  kind === "tool" || kind === "server" || kind === "skill";

/** The reason for an item with a problem. */
function reasonOf({ code, args }: Problem): SkipReason {
  if (code === "NotApproved") return args.state === "denied" ? "Denied" : "NotApproved";
  return code === "LockOutdated" ? code : "Invalid";
}

/** An item that is left out because of its problem. */
export function describeUnusable(name: string, source: ToolSource, problem: Problem | undefined): Skipped {
  const reason = problem === undefined ? "Invalid" : reasonOf(problem);
  const message = problem?.message ?? "Its definition is invalid.";
  return { name, source, reason, message, problem: reason === "Invalid" ? undefined : problem };
}

/** The problems of items that are not approved or cannot be used here, by qualified name. */
export function findRefusals(packs: readonly CheckedPack[]): Map<string, Problem> {
  const refused = packs.flatMap(({ unusable }) => [...unusable]);
  return new Map(
    refused
      .filter(([, problem]) => reasonOf(problem) !== "Invalid")
      .map(([{ qualifiedName }, problem]) => [qualifiedName, problem]),
  );
}

/** The approved tools, servers and skills of packs that are no longer there, from their problems. */
export const collectVanished = (problems: readonly Problem[]): Skipped[] =>
  problems.flatMap((problem) => {
    const { code, pack, kind, item } = problem;
    if (code !== "LockOutdated" || pack === undefined || item === undefined) return [];
    if (!isReported(kind)) return [];
    const source: ToolSource = { type: "pack", pack, item, ...(kind === "server" ? { server: item } : {}) };
    return [{ ...describeUnusable(item, source, problem), kind: kind === "skill" ? kind : undefined }];
  });

export const describeOwnServer = ({ file }: Pick<SessionConfig, "file">, name: string): ToolSource => ({
  type: "config",
  server: name,
  ...(file === undefined ? {} : { file }),
});

/**
 * The short names of the requested toolsets. Throws `TrailblazeError` `ToolsetNotFound` for an unknown one, unless it need
 * not exist yet.
 */
export function findShownToolsets(
  wanted: readonly string[] | undefined,
  toolsets: readonly SessionToolset[],
  { mustExist }: { mustExist: boolean },
): string[] | undefined {
  const known = toolsets.map(({ name }) => name);
  return wanted?.map((reference) => {
    // Toolsets are merged by short name, so a qualified name selects the merged one.
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    if (!mustExist || known.includes(name)) return name;
    const nearest = findNearestNames(name, known);
    throw failure("ToolsetNotFound", { name: reference, otherKind: undefined, nearest });
  });
}

/** Where a session runs. */
export interface DeviceContext {
  device: Device | undefined;
  preferHostAgent: boolean;
}

/** Why a tool does not fit the session's device, driver or agent; `undefined` if it does. */
function explainUnfit(
  { requiresHost, supportedDrivers, supportedPlatforms }: ToolMeta,
  { device, preferHostAgent }: DeviceContext,
): { reason: SkipReason; message: string } | undefined {
  if (requiresHost && !preferHostAgent) {
    return { reason: "RequiresHost", message: "Requires an agent that runs on the host." };
  }
  const namesOf = (names: readonly string[]) => names.map((name) => quote(name, 40)).join(", ");
  const platform = device?.platform ?? null;
  if (supportedPlatforms.length > 0 && (platform === null || !supportedPlatforms.includes(platform))) {
    const unmet = platform === null ? "Requires a device" : `Not supported on ${platform}`;
    const message = `${unmet}; supported platforms: ${namesOf(supportedPlatforms)}.`;
    return { reason: "PlatformUnsupported", message };
  }
  const driver = device?.driverType ?? null;
  if (supportedDrivers.length > 0 && (driver === null || !supportedDrivers.includes(driver))) {
    const unmet = driver === null ? "Requires a driver" : `Not supported with driver ${quote(driver, 40)}`;
    const message = `${unmet}; supported drivers: ${namesOf(supportedDrivers)}.`;
    return { reason: "DriverUnsupported", message };
  }
  return undefined;
}

/** Leaves out tools that do not fit the session's device, driver and agent; none where there is no device to fit. */
export function selectFitting(items: readonly SessionItem[], context: DeviceContext | undefined) {
  const fitting: SessionItem[] = [];
  const skipped: SkippedTool[] = [];
  for (const item of items) {
    const unfit = context && item.kind === "tool" ? explainUnfit(item.meta, context) : undefined;
    if (unfit === undefined) fitting.push(item);
    else skipped.push({ name: item.shown.name, source: item.shown.source, ...unfit });
  }
  return { fitting, skipped };
}
