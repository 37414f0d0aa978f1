import type { Device, SessionConfig } from "../config/session-config.ts";
import type { TrailblazeError } from "../problems/index.ts";
import { quote } from "../problems/index.ts";
import {
  findCollisions,
  makeServedName,
  type PrefixClaim,
  prefixNames,
} from "../qualified-names/advertised-names.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { ToolSource } from "../runtime/tool-source.ts";
import type { PromptCandidate, PromptRoute } from "./session-prompts.ts";
import type { SkippedTool, SkipReason, ToolCandidate, ToolRoute } from "./session-tool.ts";

/** Where a session runs. */
export interface DeviceContext {
  device: Device | undefined;
  preferHostAgent: boolean;
}

/** Why a tool does not fit the session's device, driver or agent; `undefined` if it does. */
export function explainUnfit(
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

/** A claim to a name, with the prefix that the tool or prompt gets if others claim it: its pack's, or its server's. */
function describeClaim(
  { name, source }: { name: string; source: ToolSource },
  route: ToolRoute | PromptRoute,
): PrefixClaim {
  const { type, pack, item, server } = source;
  const own = route.by === "server" ? route.advertisedName : name;
  const hasPrefix = route.by === "server" && route.plan.choices?.prefix !== undefined;
  const prefix = pack === undefined ? server : pack.slice(pack.lastIndexOf("/") + 1);
  return {
    name,
    prefix: hasPrefix ? undefined : prefix,
    isBuiltIn: type === "builtIn",
    identity: JSON.stringify([type, pack ?? "", item ?? "", server ?? "", own]),
  };
}

const claimsOf = (candidates: readonly ToolCandidate[]) =>
  candidates.map(({ tool }) => ({ name: tool.name, source: formatSource(tool.source) }));

/** Splits tools by whether they fit the session's device, driver and agent; all do where there is none. */
function selectFitting(candidates: readonly ToolCandidate[], context: DeviceContext | undefined) {
  const fitting: ToolCandidate[] = [];
  const skipped: SkippedTool[] = [];
  for (const candidate of candidates) {
    const { name, source } = candidate.tool;
    const unfit = context && explainUnfit(candidate.meta, context);
    if (unfit === undefined) fitting.push(candidate);
    else skipped.push({ name, source, ...unfit });
  }
  return { fitting, skipped };
}

const nameTools = (candidates: readonly ToolCandidate[]): string[] =>
  prefixNames(candidates.map(({ tool, route }) => describeClaim(tool, route)));

/** Names prompts as `registerTools` names tools. Throws `TrailblazeError` `NameCollision`. */
export function namePrompts(
  candidates: readonly PromptCandidate[],
  nameCollisions: SessionConfig["nameCollisions"],
  mayCollide: boolean,
): void {
  const prompts = candidates.map(({ prompt }) => prompt);
  if (nameCollisions === undefined || nameCollisions === "error") {
    const claims = prompts.map(({ name, source }) => ({ name, source: formatSource(source) }));
    const collision = mayCollide ? undefined : findCollisions(claims, "prompt");
    if (collision !== undefined) throw collision;
    return;
  }
  const names = prefixNames(candidates.map(({ prompt, route }) => describeClaim(prompt, route)));
  for (const [index, prompt] of prompts.entries()) prompt.name = names[index] ?? prompt.name;
}

/** The new names of tools by the name that they share, in order. */
export type RenamedTools = ReadonlyMap<string, readonly string[]>;

/**
 * The tools that fit the session, in order and with unique names. Throws `TrailblazeError` `NameCollision` if names
 * collide, unless the config prefixes them, or `mayCollide`.
 */
export function registerTools(
  candidates: readonly ToolCandidate[],
  context: DeviceContext | undefined,
  nameCollisions: SessionConfig["nameCollisions"],
  mayCollide: boolean,
): { registered: ToolCandidate[]; skipped: SkippedTool[]; renamed: RenamedTools } {
  const { fitting: registered, skipped } = selectFitting(candidates, context);
  const renamed = new Map<string, string[]>();
  if (nameCollisions === undefined || nameCollisions === "error") {
    const collision = mayCollide ? undefined : findCollisions(claimsOf(registered));
    if (collision !== undefined) throw collision;
    return { registered, skipped, renamed };
  }
  const names = nameTools(registered);
  for (const [index, { tool }] of registered.entries()) {
    const name = names[index] ?? tool.name;
    if (name !== tool.name) renamed.set(tool.name, [...(renamed.get(tool.name) ?? []), name]);
    tool.name = name;
  }
  return { registered, skipped, renamed };
}

/**
 * The tools that fit and that join those of an open session, which keep their names. A new tool whose name another tool has
 * is excluded and part of the `NameCollision`, unless the config prefixes names.
 */
export function registerMoreTools(
  registered: readonly ToolCandidate[],
  candidates: readonly ToolCandidate[],
  context: DeviceContext,
  nameCollisions: SessionConfig["nameCollisions"],
): { added: ToolCandidate[]; skipped: SkippedTool[]; collision: TrailblazeError | undefined } {
  const { fitting, skipped } = selectFitting(candidates, context);
  const all = [...registered, ...fitting];
  if (nameCollisions === undefined || nameCollisions === "error") {
    const collision = findCollisions(claimsOf(all));
    const counts = new Map<string, number>();
    const servedNameOf = ({ tool }: ToolCandidate) => makeServedName(tool.name);
    for (const name of all.map(servedNameOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
    return { added: fitting.filter((one) => counts.get(servedNameOf(one)) === 1), skipped, collision };
  }
  const names = nameTools(all).slice(registered.length);
  for (const [index, { tool }] of fitting.entries()) tool.name = names[index] ?? tool.name;
  return { added: fitting, skipped, collision: undefined };
}
