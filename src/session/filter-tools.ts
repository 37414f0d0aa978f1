import type { Device } from "../config/session-config.ts";
import { listOf, quote } from "../problems/index.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { SkipReason } from "./session-tool.ts";

/** What a session runs on. */
export interface DeviceContext {
  device: Device | undefined;
  preferHostAgent: boolean;
}

/** Why a tool does not fit the session's device, driver or agent; `undefined` where it does. */
export function whyUnfit(
  { requiresHost, supportedDrivers, supportedPlatforms }: ToolMeta,
  { device, preferHostAgent }: DeviceContext,
): { reason: SkipReason; message: string } | undefined {
  if (requiresHost && !preferHostAgent) {
    return { reason: "RequiresHost", message: "It runs only where the agent runs on the host." };
  }
  const wants = (names: readonly string[]) => listOf(names.map((name) => quote(name, 40)));
  const platform = device?.platform ?? null;
  if (supportedPlatforms.length > 0 && (platform === null || !supportedPlatforms.includes(platform))) {
    const here = platform === null ? "the session has no device" : `this is ${platform}`;
    return { reason: "PlatformUnsupported", message: `It is for ${wants(supportedPlatforms)}; ${here}.` };
  }
  const driver = device?.driverType ?? null;
  if (supportedDrivers.length > 0 && (driver === null || !supportedDrivers.includes(driver))) {
    const here = driver === null ? "the session has no driver" : `this is ${quote(driver, 40)}`;
    return { reason: "DriverUnsupported", message: `It is for ${wants(supportedDrivers)}; ${here}.` };
  }
  return undefined;
}
