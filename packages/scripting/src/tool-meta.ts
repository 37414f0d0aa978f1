import type { DevicePlatform } from "./context.ts";
import type { McpTool } from "./mcp.ts";

/** The keys of a tool's `_meta` that the host reads. */
type KnownToolMeta = {
  /** Whether models see the tool; otherwise only code and other tools can call it. Default: true. */
  "trailblaze/isForLlm"?: boolean;
  /** Another name of `trailblaze/isForLlm`. */
  "trailblaze/surfaceToLlm"?: boolean;
  /** Whether recordings include the tool's calls; false for tools that only call others. Default: true. */
  "trailblaze/isRecordable"?: boolean;
  /** Requires a host (network, files, processes): excluded where agents run on devices. Default: false. */
  "trailblaze/requiresHost"?: boolean;
  /** Drivers that the tool supports, compared exactly. Absent or empty: all. */
  "trailblaze/supportedDrivers"?: string[];
  /** Platforms that the tool supports. Absent or empty: all. */
  "trailblaze/supportedPlatforms"?: (DevicePlatform | Lowercase<DevicePlatform>)[];
  /** The toolset that the tool joins; it is created if it does not exist. */
  "trailblaze/toolset"?: string;
  /** Requires a Trailblaze session: hidden from other MCP clients. Has no effect in a session. Default: false. */
  "trailblaze/requiresContext"?: boolean;
};

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
/** The characters that MCP allows in a key of `_meta`. */
type KeyCharacter = Letter | Uppercase<Letter> | Digit | "-" | "_" | "." | "/";

/**
 * Strings that do not begin with `Word`: for each of its characters, those that match up to it and then differ.
 * TypeScript has no type for "any key but these", and an index signature for all keys would accept misspelled ones.
 */
type NotBeginningWith<
  Word extends string,
  Common extends string = "",
> = Word extends `${infer Next}${infer Rest}`
  ? `${Common}${Exclude<KeyCharacter, Next>}${string}` | NotBeginningWith<Rest, `${Common}${Next}`>
  : never;

/** Keys of other vendors: those that do not begin with `trailblaze/`. */
type ForeignToolMeta = { [key in NotBeginningWith<"trailblaze/">]: unknown };

/**
 * `_meta` of a tool. A `trailblaze/` key that does not exist or has a value of the wrong type does not compile; keys of
 * other vendors are allowed. TypeScript checks this only for object literals.
 */
export type TrailblazeToolMeta = KnownToolMeta & ForeignToolMeta;

/** An MCP tool with a checked `_meta`. Assignable to the tool types of MCP SDKs. */
export type TrailblazeTool = Omit<McpTool, "_meta"> & { _meta?: TrailblazeToolMeta };
