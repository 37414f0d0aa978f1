import { once } from "node:events";
import { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";

/** Has a server listen on loopback until the test ends, or until it is stopped. Returns its port. */
export async function listen(server: Server, wanted = 0) {
  await once(server.listen(wanted, "127.0.0.1"), "listening");
  const stop = async () => {
    if (server instanceof HttpServer) server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { port: (server.address() as AddressInfo).port, stop };
}
