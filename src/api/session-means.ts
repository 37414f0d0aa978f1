import { openLogFolder } from "../io/log-folder.ts";
import { createProcessPort } from "../io/server-process.ts";
import { startServer } from "../session/servers/start-server.ts";
import type { SessionMeans } from "../session/session-means.ts";
import { createInspectionMeans } from "./inspection-means.ts";

/** Of what packs' code writes to stdout and stderr in a child. */
const maximumLogBytes = 10 << 20;

/** The means of a session on this machine; what not every session needs is loaded where it does. */
export function createSessionMeans(): SessionMeans {
  const processes = createProcessPort();
  return {
    inspection: createInspectionMeans(),
    hostEnvironment: process.env,
    platform: process.platform,
    openLogFolder,
    startServer: (launch, events) => startServer(launch, events, { processes }),
    async openCallbackEndpoint(options) {
      const { openCallbackEndpoint } = await import("../session/callback/callback-endpoint.ts");
      return openCallbackEndpoint(options);
    },
    async createRunner({ root, trusted, child, onLateError }) {
      if (child === undefined) {
        const { createInProcessRunner } = await import("../execution/in-process-runner.ts");
        return createInProcessRunner({ root, trusted, onLateError });
      }
      const { createProcessRunner } = await import("../execution/process-runner.ts");
      const log = processes.openLog(child.logFile, maximumLogBytes);
      const runner = createProcessRunner({
        root,
        env: child.env,
        processes,
        onLateError,
        onOutput: (chunk) => log.write(chunk.toString()),
      });
      return {
        ...runner,
        close: async () => {
          await runner.close();
          await log.end();
        },
      };
    },
    async createSchemaValidator() {
      const { createSchemaValidator } = await import("../execution/schema-validator.ts");
      return createSchemaValidator();
    },
  };
}
