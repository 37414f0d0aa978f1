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

/**
 * The context that a session sends with a call, in one form for both envelopes: the platform in upper case, memory as a
 * copy. Without URL and ids if the call has only `_trailblazeContext`, without the URL if callbacks are disabled.
 */
export type TrailblazeCall = TrailblazeContext &
  Partial<Pick<TrailblazeMeta, "baseUrl" | "sessionId" | "invocationId">>;

/** What a server's handler gets besides arguments: `extra` of the MCP SDK, or the `params` of a request. */
export type RequestExtra = { readonly _meta?: { readonly [key: string]: unknown } | undefined };

type Data = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Data =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function ownOf(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined;
}

function readDevice(device: unknown): TrailblazeDevice | null {
  if (!isObject(device)) return null;
  const { platform } = device;
  const inUpperCase = typeof platform === "string" && { platform: platform.toUpperCase() };
  return { ...device, ...inUpperCase } as TrailblazeDevice;
}

function readContext(envelope: Data): TrailblazeContext {
  const { memory, device } = envelope;
  return { memory: isObject(memory) ? { ...memory } : {}, device: readDevice(device) };
}

/** Those of the keys that have a string. */
const textsOf = (source: unknown, ...keys: string[]) =>
  Object.fromEntries(
    keys.map((key) => [key, ownOf(source, key)]).filter(([, value]) => typeof value === "string"),
  );

/**
 * The session's context of a call: from `_meta.trailblaze`, otherwise from `args._trailblazeContext`; `undefined` for
 * other MCP clients. `extra` is the SDK's second argument of a handler, or the `params` of the request.
 */
export function contextFrom(args: unknown, extra?: RequestExtra | object): TrailblazeCall | undefined {
  const meta = ownOf(ownOf(extra, "_meta"), "trailblaze");
  if (isObject(meta))
    return { ...readContext(meta), ...textsOf(meta, "baseUrl", "sessionId", "invocationId") };
  const legacy = ownOf(args, "_trailblazeContext");
  if (!isObject(legacy)) return undefined;
  // In the host's own process there is no `_meta`: the handler's context has the ids and `callTool`.
  const isInHost = typeof ownOf(extra, "callTool") === "function";
  return { ...readContext(legacy), ...(isInHost && textsOf(extra, "sessionId", "invocationId")) };
}
