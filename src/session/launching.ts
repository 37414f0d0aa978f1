// What starts processes, in one module, because only a session that starts one loads it.
export { startRemoteServer } from "../mcp/client/remote-server.ts";
export { startServer } from "../mcp/client/start-server.ts";
export { createProcessPort } from "../processes/server-process.ts";
