import type { CallbackEndpoint, CallbackOptions } from "../callback/callback-endpoint.ts";
import type { InspectionMeans } from "../inspection/inspect.ts";
import type { SchemaValidator } from "../json-schema/schema-validator.ts";
import type { ServerEvents, ServerLaunch } from "../mcp/client/connected-server.ts";
import type { StartingServer } from "../mcp/client/start-server.ts";
import type { ProcessLog } from "../processes/process-port.ts";
import type { CodeDiedError } from "../runtime/code-died-error.ts";
import type { OutcomeRunner } from "../runtime/code-runner.ts";

/** How the code of a pack, or of the host itself, is run. */
export interface RunnerOptions {
  /** Absolute path that its modules must lie in. */
  root: string;
  /** The host's own code, whose late errors are the host's. */
  trusted: boolean;
  /** The complete environment of the child it runs in; without it the code runs in this process. */
  child: { env: Readonly<Record<string, string>>; onOutput(chunk: Buffer): void } | undefined;
  onLateError(message: string): void;
}

/** What a session may do to the machine. Trust level: execution. */
export interface SessionMeans {
  inspection: InspectionMeans;
  hostEnvironment: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** Opens a file for what packs' code writes in a child. */
  openLog(file: string): ProcessLog;
  /** Makes the folder of a session's logs and gives its absolute path. */
  openLogFolder(sessionId: string, logDir: string | undefined): string;
  /** Spawns the server's process at once. */
  startServer(
    launch: ServerLaunch,
    events: ServerEvents & { onInvalidTool(name: string, reason: string): void },
  ): StartingServer;
  openCallbackEndpoint(options: CallbackOptions): Promise<CallbackEndpoint>;
  createRunner(options: RunnerOptions): Promise<OutcomeRunner & { readonly death?: Promise<CodeDiedError> }>;
  createSchemaValidator(): Promise<SchemaValidator>;
}
