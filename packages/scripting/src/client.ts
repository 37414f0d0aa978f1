import type { CallToolResult } from "./results.ts";

/**
 * The tools that a client knows by name. Empty here: `trailblaze types` writes a declaration that adds what is
 * installed, each tool under its advertised name:
 *
 *     declare module "@trailblaze/scripting" {
 *       interface InstalledTools {
 *         jira_getIssue: { arguments: { issueKey: string }; result: { summary: string } };
 *       }
 *     }
 *
 * `result` is what `structuredContent` holds; it may be left out.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface InstalledTools {}

type ArgumentsOf<Tool> = Tool extends { arguments: infer Args extends object }
  ? Args
  : Record<string, unknown>;

/** What a call of a known tool answers. */
export type TypedResult<Tool> = Tool extends { result: infer Structured }
  ? Omit<CallToolResult, "structuredContent"> & { structuredContent?: Structured }
  : CallToolResult;

/** A known tool as a function. Its argument may be left out where nothing in it is required. */
export type TypedCall<Tool> = (
  ...args: Record<never, never> extends ArgumentsOf<Tool>
    ? [args?: ArgumentsOf<Tool>]
    : [args: ArgumentsOf<Tool>]
) => Promise<TypedResult<Tool>>;

/** The known tools as functions. */
export type TypedTools = { readonly [Name in keyof InstalledTools]: TypedCall<InstalledTools[Name]> };

/** Calls other tools of the session while a call is under way. */
export interface TrailblazeClient {
  /**
   * Calls a tool by its advertised name. A tool that fails answers with `isError: true`; the promise rejects where
   * nothing could be called: outside a session, after the call is over, or if the host does not answer in time.
   */
  callTool(name: string, args?: Record<string, unknown>): Promise<CallToolResult>;
  /** The same by name, for the tools that `InstalledTools` declares. */
  readonly tools: TypedTools;
}

type CallTool = (name: string, args: Record<string, unknown>) => Promise<CallToolResult>;

/** A client that calls tools in the given way. */
export function createClient(callTool: CallTool): TrailblazeClient {
  const call = (name: string, args: Record<string, unknown> = {}) => callTool(name, args);
  const tools = new Proxy(Object.create(null) as object, {
    // Symbols, and `then`: who awaits it or prints it does not mean a tool.
    get: (_, name) =>
      typeof name === "symbol" || name === "then"
        ? undefined
        : (args?: Record<string, unknown>) => call(name, args),
  });
  return Object.freeze({ callTool: call, tools: tools as TypedTools });
}

/** Why there is nobody to call back: said by every call that a client makes outside a session. */
export class OutsideSessionError extends Error {
  override readonly name = "OutsideSessionError";
}

const outside =
  "There is no Trailblaze session whose tools could be called: whoever called this tool is another MCP client.";

/** A client whose calls all fail, and say why. */
export const createOutsideClient = (reason: string = outside): TrailblazeClient =>
  createClient(() => Promise.reject(new OutsideSessionError(reason)));
