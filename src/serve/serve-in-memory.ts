import { randomUUID } from "node:crypto";
import type { ProtocolServer } from "../mcp/protocol-server.ts";
import { DualServer } from "../mcp/stdio/dual-server.ts";
import { whenAborted } from "../runtime/abort-listeners.ts";
import { Session } from "../session/session.ts";
import type { SessionChange } from "../session/session-change.ts";
import { serveEras } from "./served-eras.ts";
import { type ClientScope, SessionGateway } from "./session-gateway.ts";

/** Serves an open session to the client at the other end of a connection in memory, until one of the two is closed. */
export async function serveInMemory(session: Session, connection: object): Promise<void> {
  const { resources, servedListeners } = Session.partsOf(session);
  const { closing } = resources;
  closing.throwIfAborted();
  // The host of the session gets its problems itself.
  const gateway = new SessionGateway(Promise.resolve(session), () => {});
  const sessionId = randomUUID();
  let scope: ClientScope | undefined;
  const own = gateway.serve(() => {
    scope ??= gateway.createScope(sessionId);
    return scope;
  });
  const eras = serveEras(
    { legacy: () => own, modern: own },
    { protocol: "both", cacheTtl: 0, token: undefined },
  );
  const server = new DualServer(() => eras.legacy({ sessionId }), eras.modern.stdio);
  const transport = connection as Parameters<ProtocolServer["connect"]>[0];
  await server.connect(transport);
  const announce = (change: SessionChange) => gateway.announce(change);
  servedListeners.add(announce);
  const release = whenAborted(closing, () => void transport.close());
  const { onclose } = transport;
  transport.onclose = () => {
    servedListeners.delete(announce);
    release();
    onclose?.();
  };
}
