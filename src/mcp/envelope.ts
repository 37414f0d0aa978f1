import type { Device } from "../config/session-config.ts";

/** What every call of a session carries besides its arguments. */
export interface CallFacts {
  sessionId: string;
  invocationId: string;
  /** `undefined` if callbacks are disabled. */
  baseUrl: string | undefined;
  device: Device | undefined;
  /** The part of the memory that the tool's pack may see. */
  memory: Record<string, string>;
}

/** `arguments._trailblazeContext`: only memory and device, the platform in upper case. */
export function createLegacyContext({ memory, device }: Pick<CallFacts, "memory" | "device">) {
  return { memory, device: device === undefined ? null : { ...device } };
}

/** `_meta.trailblaze` of a `tools/call`, the platform in lower case. */
export function createCallMeta({ sessionId, invocationId, baseUrl, device, memory }: CallFacts) {
  const lower = device && { ...device, platform: device.platform?.toLowerCase() ?? null };
  const rest = { sessionId, invocationId, device: lower ?? null, memory };
  return baseUrl === undefined ? rest : { baseUrl, ...rest };
}
