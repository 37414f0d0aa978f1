import type { DevicePlatform } from "./context.ts";
import type { McpTool } from "./mcp.ts";

/** What the host reads in `_meta` of a tool. */
type KnownToolMeta = {
  /** Whether models see the tool. Where false, only code and other tools call it. Default: true. */
  "trailblaze/isForLlm"?: boolean;
  /** Another name of `trailblaze/isForLlm`. */
  "trailblaze/surfaceToLlm"?: boolean;
  /** Whether recordings keep the tool's calls: false for tools that only pass them on to others. Default: true. */
  "trailblaze/isRecordable"?: boolean;
  /** Needs what only a host has (network, files, processes): left out where agents run on devices. Default: false. */
  "trailblaze/requiresHost"?: boolean;
  /** Drivers that the tool works with, compared exactly. Absent or empty: all. */
  "trailblaze/supportedDrivers"?: string[];
  /** Platforms that the tool works on. Absent or empty: all. */
  "trailblaze/supportedPlatforms"?: (DevicePlatform | Lowercase<DevicePlatform>)[];
  /** Toolset that the tool joins; it is made where it is missing. */
  "trailblaze/toolset"?: string;
  /** Needs a Trailblaze session: hidden from other MCP clients. In a session it filters nothing. Default: false. */
  "trailblaze/requiresContext"?: boolean;
};

type Letter =
  | ("a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m")
  | ("n" | "o" | "p" | "q" | "r" | "s" | "t" | "u" | "v" | "w" | "x" | "y" | "z");
type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
/** The characters that MCP allows in a key of `_meta`. */
type KeyCharacter = Letter | Uppercase<Letter> | Digit | "-" | "_" | "." | "/";

/**
 * Texts that do not begin with `Word`: for each of its characters, those that go along with it so far and then differ.
 * TypeScript has no type for "any key but these", and an index signature for all keys would let misspelt ones through.
 */
type NotBeginningWith<
  Word extends string,
  Common extends string = "",
> = Word extends `${infer Next}${infer Rest}`
  ? `${Common}${Exclude<KeyCharacter, Next>}${string}` | NotBeginningWith<Rest, `${Common}${Next}`>
  : never;

/** Keys of other vendors: whatever does not begin with `trailblaze/`. */
type ForeignToolMeta = { [key in NotBeginningWith<"trailblaze/">]: unknown };

/**
 * `_meta` of a tool. A `trailblaze/` key that does not exist, or has a value of the wrong type, does not compile; keys
 * of other vendors are free. As with every check of surplus keys, TypeScript does it where the object is written out.
 */
export type TrailblazeToolMeta = KnownToolMeta & ForeignToolMeta;

/** An MCP tool whose `_meta` is checked. Fits wherever an MCP SDK asks for a tool. */
export type TrailblazeTool = Omit<McpTool, "_meta"> & { _meta?: TrailblazeToolMeta };
