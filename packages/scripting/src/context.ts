/** A platform as `_trailblazeContext` and definitions write it. */
export type DevicePlatform = "IOS" | "ANDROID" | "WEB";

/** The device of a session. `Platform` is how the platform's name is written: it differs between the two envelopes. */
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
 * The context in the arguments of a call: `arguments._trailblazeContext`. A host writes it into each `tools/call` of
 * a session, unless the tool's `inputSchema` forbids additional properties or the server says `legacyContext: false`.
 * Under other MCP clients it is absent, and no `inputSchema` mentions it.
 */
export type TrailblazeContext = {
  /** The session's memory at the time of the call, without what the user keeps from packs. */
  memory: Record<string, unknown>;
  /** `null` in a session without a device. */
  device: TrailblazeDevice | null;
};

/**
 * The context in the metadata of a call: `_meta.trailblaze`. A host writes it into every `tools/call` of a session.
 * Under other MCP clients it is absent.
 */
export type TrailblazeMeta = {
  /** Where the host takes callbacks, for example `http://127.0.0.1:52525`. Absent where callbacks are off. */
  baseUrl?: string;
  /** Opaque: for logs, and to be sent back in a callback. */
  sessionId: string;
  /** Of this one call. A callback names it, and the host finds the session by it. */
  invocationId: string;
  /** With the platform in lower case. `null` in a session without a device. */
  device: TrailblazeDevice<Lowercase<DevicePlatform>> | null;
  /** As in `TrailblazeContext`. */
  memory: Record<string, unknown>;
};
