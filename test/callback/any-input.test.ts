import fc from "fast-check";
import { expect, test } from "vitest";
import { openConnection, statusesIn } from "../mcp/http/raw-connection.ts";
import { createRequest, openEndpoint, post } from "./open-endpoint.ts";
import { formatHead } from "./raw-request.ts";

const documented = [200, 400, 401, 403, 404, 405, 408, 413, 415, 431];

const requestLike = fc.record(
  {
    version: fc.oneof(fc.constant<unknown>(1), fc.jsonValue()),
    session_id: fc.oneof(fc.constant<unknown>("session-1"), fc.jsonValue()),
    invocation_id: fc.oneof(fc.constant<unknown>("invocation-1"), fc.jsonValue()),
    action: fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          type: fc.oneof(fc.constant<unknown>("call_tool"), fc.jsonValue()),
          tool_name: fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue()),
          arguments_json: fc.oneof(fc.json(), fc.constant("{}"), fc.string(), fc.jsonValue()),
        },
        { requiredKeys: ["type"] },
      ),
    ),
  },
  { requiredKeys: ["version"] },
);

/** A valid body with some bytes changed, taken out or put in. */
const damaged = fc
  .tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 8 }))
  .map(([at, removed, inserted]) => {
    const bytes = Buffer.from(JSON.stringify(createRequest()));
    const start = at % bytes.length;
    return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(start + removed)]);
  });

const body = fc.oneof(
  fc.uint8Array({ maxLength: 6000 }),
  fc.json().map((text) => Buffer.from(text)),
  requestLike.map((value) => Buffer.from(JSON.stringify(value))),
  damaged,
);

test("any body gets a documented answer, and the endpoint keeps running", async () => {
  const opened = await openEndpoint();
  await fc.assert(
    fc.asyncProperty(body, async (bytes) => {
      const response = await post(opened, bytes);
      expect([200, 400, 413]).toContain(response.status);
      const { result } = (await response.json()) as { result: Record<string, unknown> };
      if (response.status !== 200 || result.type === "error") {
        expect(result).toEqual({ type: "error", message: expect.any(String) });
      } else {
        expect(result).toEqual({
          type: "call_tool_result",
          success: expect.any(Boolean),
          text_content: expect.any(String),
          error_message: expect.any(String),
        });
        expect(result.success).toBe(result.error_message === "");
      }
    }),
    { numRuns: 500 },
  );
  for (const call of opened.calls) expect(Object.getPrototypeOf(call.arguments)).toBe(Object.prototype);
  expect((await post(opened)).status).toBe(200);
});

test("any bytes without a token call nothing, and the endpoint keeps running", async () => {
  const opened = await openEndpoint({ limits: { bodyTimeoutMs: 20 }, transport: { headersTimeoutMs: 20 } });
  const good = Buffer.from(
    formatHead({ ...opened, token: "x".repeat(43) }, { "Content-Length": "2" }).concat("{}"),
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.tuple(fc.nat(), fc.nat(9), fc.uint8Array({ maxLength: 9 })).map(([at, removed, inserted]) => {
      const start = at % good.length;
      return Buffer.concat([good.subarray(0, start), inserted, good.subarray(start + removed)]);
    }),
  );
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      const connection = await openConnection(opened.endpoint.port);
      await connection.send(sent);
      for (const status of statusesIn(await connection.closed)) expect(documented).toContain(status);
    }),
    { numRuns: 200 },
  );
  expect(opened.calls).toEqual([]);
  // Its limits are so short that a busy machine can miss them.
  await expect.poll(async () => (await post(opened)).status).toBe(200);
});
