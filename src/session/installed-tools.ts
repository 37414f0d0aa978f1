import type { ToolResult } from "../runtime/tool-result.ts";
import type { CallOptions } from "./host-functions.ts";

/**
 * The tools that `callTool` knows by name. Empty here: `trailblaze types` generates a declaration that adds the installed
 * tools under their advertised names:
 *
 *     declare module "trailblaze/session" {
 *       interface InstalledTools {
 *         jira_getIssue: { arguments: { issueKey: string }; result: { summary: string } };
 *       }
 *     }
 *
 * `result` is the type of `structuredContent`; it is optional.
 */
// biome-ignore lint/suspicious/noEmptyInterface: declarations are merged into it
export interface InstalledTools {}

/** The name of a tool; editors suggest the known ones. */
export type ToolName = (keyof InstalledTools & string) | (string & {});

type ArgumentsOf<Name> = Name extends keyof InstalledTools
  ? InstalledTools[Name] extends { arguments: infer Args }
    ? Args
    : unknown
  : unknown;

/** The rest of the parameters of `callTool`. Arguments are optional if they have no required properties. */
export type CallParameters<Name> =
  Record<never, never> extends ArgumentsOf<Name>
    ? [args?: ArgumentsOf<Name>, options?: CallOptions]
    : [args: ArgumentsOf<Name>, options?: CallOptions];

/** The result of a tool; `structuredContent` has its type if the tool is known and declares it. */
export type ToolResultOf<Name> = Name extends keyof InstalledTools
  ? InstalledTools[Name] extends { result: infer Structured }
    ? Omit<ToolResult, "structuredContent"> & { structuredContent?: Structured }
    : ToolResult
  : ToolResult;
