/** A platform in `_trailblazeContext` and in definitions. */
export type DevicePlatform = "IOS" | "ANDROID" | "WEB";

/** The device of a session. `Platform` is the spelling of the platform, which differs between the two envelopes. */
export type TrailblazeDevice<Platform extends string = DevicePlatform> = {
  platform: Platform;
  /** Width of the screen in pixels. */
  widthPixels: number;
  /** Height of the screen in pixels. */
  heightPixels: number;
  /** Name of the driver, for example `playwright-native`. */
  driverType: string;
};

/**
 * The context in the arguments of a call: `arguments._trailblazeContext`. A host adds it to each `tools/call` of a
 * session, unless the tool's `inputSchema` forbids additional properties or the server has `legacyContext: false`.
 * Other MCP clients do not send it, and no `inputSchema` declares it.
 */
export type TrailblazeContext = {
  /** The session's memory at the time of the call, without keys that the user hides from the pack. */
  memory: Record<string, unknown>;
  /** `null` in a session without a device. */
  device: TrailblazeDevice | null;
};

/**
 * The context in the metadata of a call: `_meta.trailblaze`. A host adds it to every `tools/call` of a session. Other
 * MCP clients do not send it.
 */
export type TrailblazeMeta = {
  /** The base URL for callbacks, for example `http://127.0.0.1:52525`. Absent if callbacks are disabled. */
  baseUrl?: string;
  /** Opaque: for logs and for callbacks. */
  sessionId: string;
  /** The id of this call, which a callback refers to. */
  invocationId: string;
  /** With the platform in lower case. `null` in a session without a device. */
  device: TrailblazeDevice<Lowercase<DevicePlatform>> | null;
  /** As in `TrailblazeContext`. */
  memory: Record<string, unknown>;
};
