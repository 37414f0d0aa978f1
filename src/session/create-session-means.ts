import { createInspectionMeans } from "../inspection/inspection-means.ts";
import { startServer } from "../mcp/client/start-server.ts";
import { openLogFolder } from "../processes/log-folder.ts";
import type { ProcessPort } from "../processes/process-port.ts";
import { createProcessPort } from "../processes/server-process.ts";
import type { SessionMeans } from "./session-means.ts";

/** Of what packs' code writes to stdout and stderr in a child. */
const maximumLogBytes = 10 << 20;

/** What runs packs' code and checks what goes in and out of it; loaded with the first tool that needs it. */
export function createExecutionMeans(
  processes: ProcessPort,
): Pick<SessionMeans, "hostEnvironment" | "platform" | "createRunner" | "createSchemaValidator"> {
  return {
    hostEnvironment: process.env,
    platform: process.platform,
    async createRunner({ root, trusted, child, onLateError }) {
      if (child === undefined) {
        const { createInProcessRunner } = await import("../runtime/in-process-runner.ts");
        return createInProcessRunner({ root, trusted, onLateError });
      }
      const { createProcessRunner } = await import("../runtime/process-runner.ts");
      return createProcessRunner({ root, ...child, processes, onLateError });
    },
    async createSchemaValidator() {
      const { createSchemaValidator } = await import("../json-schema/schema-validator.ts");
      return createSchemaValidator();
    },
  };
}

/** The means of a session on this machine; what not every session needs is loaded where it does. */
export function createSessionMeans(): SessionMeans {
  const processes = createProcessPort();
  return {
    ...createExecutionMeans(processes),
    inspection: createInspectionMeans(),
    openLogFolder,
    openLog: (file) => processes.openLog(file, maximumLogBytes),
    startServer: (launch, events) => startServer(launch, events, { processes }),
    async openCallbackEndpoint(options) {
      const { openCallbackEndpoint } = await import("../callback/callback-endpoint.ts");
      return openCallbackEndpoint(options);
    },
  };
}
