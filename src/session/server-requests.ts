import type { ConnectedServer } from "../mcp/client/connected-server.ts";
import { abortable, type Cancellation } from "../runtime/abort-listeners.ts";
import type { TimeLimit } from "../runtime/time-limit.ts";
import { describeServerExit, type PlannedServer, type SessionServer } from "./session-servers.ts";

/** What stops the wait for a server. */
export interface RequestLimits {
  signal: Cancellation;
  /** They stand still while the server starts for the request, within its own timeouts. */
  limits?: readonly TimeLimit[] | undefined;
}

/** The server once it is ready; starts it if it does not run. Rejects with the signal's reason, or as `SessionServer.start`. */
export async function connect(
  server: SessionServer,
  { signal, limits = [] }: RequestLimits,
): Promise<ConnectedServer> {
  let ends: (() => void)[] = [];
  try {
    return await abortable(signal, () => {
      const ready = server.start();
      // During a restart after an exit, a request waits within its own time.
      if (server.startsForRequests) ends = limits.map((limit) => limit.pause());
      return ready;
    });
  } finally {
    for (const end of ends) end();
  }
}

/** Runs what sends several requests to a server, if one answers: it does not end for want of requests between them. */
export async function keepRunning<Answer>(
  server: SessionServer | undefined,
  run: () => Promise<Answer>,
): Promise<Answer> {
  server?.beginRequest();
  try {
    return await run();
  } finally {
    server?.endRequest();
  }
}

interface ServerRequest extends PlannedServer, RequestLimits {
  kind: "prompt" | "resource";
  /** The server's own name for what is requested, or a URI. */
  name: string;
}

/**
 * Sends a request to a server, which starts if it does not run. Rejects with `TrailblazeError` `ServerStartFailed`, or
 * `NotApproved` if the lock does not approve what the server now lists by this name.
 */
export async function sendRequest<Answer>(
  { server, plan, approval, kind, name, ...limits }: ServerRequest,
  send: (connected: ConnectedServer) => Promise<Answer>,
): Promise<Answer> {
  if (server.exit !== undefined) throw new Error(describeServerExit(plan.label, server.exit));
  return keepRunning(server, async () => {
    const connected = server.current ?? (await connect(server, limits));
    approval?.refuse(kind, name);
    return send(connected);
  });
}
