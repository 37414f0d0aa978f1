import { expect, test } from "vitest";
import { openConnection } from "./raw-connection.ts";
import { initializing, post, type Served, serve } from "./served.ts";

const probe = ({ url }: Served, init: RequestInit = {}) => fetch(new URL("/healthz", url), init);

test("a probe is answered without a token, whatever its Host", async () => {
  const served = await serve({ health: true, token: "secret" });
  const answer = await probe(served);
  expect([answer.status, await answer.json()]).toEqual([200, { status: "ok" }]);
  const head = await probe(served, { method: "HEAD" });
  expect([head.status, await head.text()]).toEqual([200, ""]);
  const other = await probe(served, { method: "POST" });
  expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD"]);

  const connection = await openConnection(served.port);
  connection.socket.write(`GET /healthz?from=kubelet HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
  await expect.poll(connection.received).toContain('{"status":"ok"}');
  expect((await post(served, initializing())).status).toBe(401);
});

test("without `health`, /healthz is a path like any other", async () => {
  const served = await serve();
  expect((await probe(served)).status).toBe(404);
});
