import { randomUUID } from "node:crypto";
import type { ProtocolServer } from "../mcp/served-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { Session } from "../session/session.ts";
import type { SessionChange } from "../session/session-states.ts";
import { checkOptions, type LlmToolsOptions, refuseSearchName } from "../session/tool-search.ts";
import { serveEras } from "./serve-clients.ts";
import { type ClientScope, SessionGateway } from "./session-gateway.ts";

/**
 * Serves an open session to the client at the other end of a connection in memory, until one of the two is closed. Rejects
 * with `TrailblazeError`: `InvalidArguments`, `NameCollision` for a tool with the name of the search.
 */
export async function serveInMemory(
  session: Session,
  connection: object,
  toolSearch?: LlmToolsOptions,
): Promise<void> {
  const { state, resources, states } = Session.partsOf(session).frame;
  const { closing } = resources;
  closing.throwIfAborted();
  // The host of the session gets its problems itself.
  const gateway = new SessionGateway(Promise.resolve(session), () => {});
  if (toolSearch !== undefined) {
    checkOptions(toolSearch);
    refuseSearchName(state());
  }
  const sessionId = randomUUID();
  let scope: ClientScope | undefined;
  const only = () => {
    scope ??= gateway.createScope(sessionId);
    return scope;
  };
  const clients = gateway.serveClients({ only, toolSearch });
  const eras = serveEras(clients, { protocol: "both", cacheTtl: 0, token: undefined });
  const server = eras.connection({ sessionId });
  const transport = connection as Parameters<ProtocolServer["connect"]>[0];
  await server.connect(transport);
  const announce = (change: SessionChange) => gateway.announce(change);
  states.served.add(announce);
  const release = whenAborted(closing, () => void transport.close());
  const { onclose } = transport;
  transport.onclose = () => {
    states.served.delete(announce);
    release();
    onclose?.();
  };
}
