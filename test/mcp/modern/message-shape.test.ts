import { JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isMessage } from "../../../src/mcp/client-message.ts";

const json = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1.5, -3, "x", "", 2 ** 60, [], {}, [1], { a: 1 }),
  fc.record({ progressToken: fc.constantFrom<unknown>(1, 1.5, "t", null, {}) }),
);
const meta = fc.oneof(
  json,
  fc.record(
    {
      progressToken: fc.constantFrom<unknown>(1, 1.5, "t", null),
      "io.modelcontextprotocol/related-task": fc.constantFrom<unknown>(
        { taskId: "x" },
        { taskId: 1 },
        "x",
        {},
      ),
    },
    { requiredKeys: [] },
  ),
);
const params = fc.oneof(json, fc.record({ _meta: meta, name: json }, { requiredKeys: [] }));
const messages = fc.record(
  {
    jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1.0"),
    id: json,
    method: fc.constantFrom<unknown>("ping", "x/y", "", 5, null),
    params,
    result: params,
    error: fc.oneof(
      json,
      fc.record({ code: json, message: json, data: json, more: json }, { requiredKeys: ["code"] }),
    ),
    other: json,
  },
  { requiredKeys: ["jsonrpc"] },
);

test("a message has the shape that version 1 of the SDK defines", () => {
  fc.assert(
    fc.property(fc.oneof(messages, json), (value) => {
      expect(isMessage(value)).toBe(JSONRPCMessageSchema.safeParse(value).success);
    }),
    { numRuns: 5000 },
  );
});
