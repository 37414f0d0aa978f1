import type { Device } from "../config/session-config.ts";

/** What every call of a session is told besides its arguments. */
export interface CallFacts {
  sessionId: string;
  invocationId: string;
  /** `undefined` where callbacks are off. */
  baseUrl: string | undefined;
  device: Device | undefined;
  /** As the tool's pack may see it. */
  memory: Record<string, string>;
}

/** `arguments._trailblazeContext`: memory and device only, the platform in capitals. */
export function createLegacyContext({ memory, device }: Pick<CallFacts, "memory" | "device">) {
  return { memory, device: device === undefined ? null : { ...device } };
}

/** `_meta.trailblaze` of a `tools/call`, the platform in lower case. */
export function createCallMeta({ sessionId, invocationId, baseUrl, device, memory }: CallFacts) {
  const lower = device && { ...device, platform: device.platform?.toLowerCase() ?? null };
  return {
    ...(baseUrl === undefined ? {} : { baseUrl }),
    sessionId,
    invocationId,
    device: lower ?? null,
    memory,
  };
}
