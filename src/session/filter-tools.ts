import type { Device } from "../config/session-config.ts";
import { quote } from "../problems/index.ts";
import type { ToolMeta } from "../runtime/tool-meta.ts";
import type { SkipReason } from "./session-tool.ts";

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
