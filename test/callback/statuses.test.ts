// Every row of the table in docs/callback.md.
import { describe, expect, test } from "vitest";
import { openConnection } from "../mcp/http/raw-connection.ts";
import {
  createRequest,
  failedWith,
  formatHead,
  openEndpoint,
  post,
  resultOf,
  sessionId,
} from "./open-endpoint.ts";

type Headers = Record<string, string | string[] | undefined>;

/** A valid body sent with another request line or other headers. */
async function askWith(headers: Headers | ((port: number, token: string) => Headers), line?: string) {
  const opened = await openEndpoint();
  const connection = await openConnection(opened.endpoint.port);
  const body = JSON.stringify(createRequest());
  const changed = typeof headers === "function" ? headers(opened.endpoint.port, opened.token) : headers;
  const head = formatHead(opened, { "Content-Length": String(body.length), ...changed }, line);
  await connection.send(head + body);
  const [answer] = await connection.answers(1);
  return { answer, calls: opened.calls };
}

describe("a request that is rejected by its head", () => {
  test.each<[string, number, Headers | ((port: number, token: string) => Headers), string?]>([
    ["no token", 401, { Authorization: undefined }],
    ["a wrong token", 401, { Authorization: "Bearer wrong" }],
    ["another scheme", 401, (_port, token) => ({ Authorization: `Basic ${token}` })],
    ["the token twice", 401, (_port, token) => ({ Authorization: [`Bearer ${token}`, `Bearer ${token}`] })],
    ["a foreign host", 403, { Host: "evil.example" }],
    ["our host with another port", 403, { Host: "127.0.0.1:1" }],
    ["no host", 403, { Host: undefined }],
    ["two hosts", 403, (port) => ({ Host: [`127.0.0.1:${port}`, "evil.example"] })],
    ["an origin", 403, { Origin: "https://evil.example" }],
    ["an empty origin", 403, { Origin: "" }],
    ["an origin after hundreds of headers", 403, { a: Array(2500).fill(""), Origin: "x" }],
    ["another path", 404, {}, "POST / HTTP/1.1"],
    ["a whole URL", 404, {}, "POST http://evil.example/scripting/callback HTTP/1.1"],
    ["GET", 405, {}, "GET /scripting/callback HTTP/1.1"],
    ["no type", 415, { "Content-Type": undefined }],
    ["another charset", 415, { "Content-Type": "application/json; charset=latin1" }],
    ["two types", 415, { "Content-Type": ["application/json", "text/plain"] }],
    ["an announced length over the limit", 413, { "Content-Length": "4097" }],
  ])("a request with %s gets %i", async (what, status, headers, line) => {
    const { answer, calls } = await askWith(headers, line);
    expect(answer?.status).toBe(status);
    expect(answer?.headers.get("connection")).toBe("close");
    expect(answer?.headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(answer?.body ?? "")).toEqual({
      result: { type: "error", message: expect.stringMatching(/\.$/) },
    });
    const challenge = 'Bearer realm="trailblaze"';
    const withToken = what === "no token" ? challenge : `${challenge}, error="invalid_token"`;
    expect(answer?.headers.get("www-authenticate")).toBe(status === 401 ? withToken : undefined);
    expect(answer?.headers.get("allow")).toBe(status === 405 ? "POST" : undefined);
    expect(calls).toEqual([]);
  });

  test.each<[string, Headers | ((port: number, token: string) => Headers), string?]>([
    ["localhost", (port) => ({ Host: `localhost:${port}` })],
    ["a charset in capitals and quotes", { "Content-Type": 'Application/JSON;charset="UTF-8"' }],
    // Through an object of headers, it would end the process.
    ["a header `__proto__`", JSON.parse('{"__proto__":"x"}')],
    ["a query", {}, "POST /scripting/callback?x=1 HTTP/1.1"],
  ])("a request with %s is accepted", async (_what, headers, line) => {
    const { answer, calls } = await askWith(headers, line);
    expect(answer?.status).toBe(200);
    expect(calls).toHaveLength(1);
  });

  test("of several errors, the first is reported: the path before the token, and the token before the body", async () => {
    const faults: [number, Headers, string?][] = [
      [403, { Origin: "x", Authorization: undefined }, "GET / HTTP/1.1"],
      [404, { Authorization: undefined }, "GET / HTTP/1.1"],
      [405, { Authorization: undefined }, "GET /scripting/callback HTTP/1.1"],
      [401, { Authorization: undefined, "Content-Type": "text/plain", "Content-Length": "5000" }],
      [415, { "Content-Type": "text/plain", "Content-Length": "5000" }],
    ];
    for (const [status, headers, line] of faults) {
      const { answer } = await askWith(headers, line);
      expect(answer?.status).toBe(status);
    }
  });
});

test.each<[string, unknown]>([
  ["nothing", ""],
  ["invalid JSON", "{"],
  ["a string", '"x"'],
  ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["a deep nest", "[".repeat(2000) + "]".repeat(2000)],
  ["no version", createRequest({ version: undefined })],
  ["a version that is a string", createRequest({ version: "1" })],
  ["an action that is a list", createRequest({ action: [] })],
  ["an action without type", createRequest({}, { type: undefined })],
  ["keys only on a prototype", `{"__proto__":${JSON.stringify(createRequest())}}`],
])("a body with %s gets 400", async (what, body) => {
  const opened = await openEndpoint();
  const response = await post(opened, body);
  expect(response.status).toBe(400);
  // A missing key is named.
  const message = expect.stringMatching(what === "an action without type" ? /"action\.type".*\.$/ : /\.$/);
  expect(await response.json()).toEqual({ result: { type: "error", message } });
  expect(opened.calls).toEqual([]);
});

describe("a valid request that cannot be executed gets 200 with an error", () => {
  const errorFor = async (body: unknown) => {
    const opened = await openEndpoint();
    const response = await post(opened, body);
    expect(response.status).toBe(200);
    expect(opened.calls).toEqual([]);
    const { type, message } = await resultOf(response);
    expect(type).toBe("error");
    return message;
  };

  test.each([0, 2])("version %d gets an error", async (version) => {
    expect(await errorFor(createRequest({ version }))).toContain("@trailblaze/scripting");
  });

  test("an unknown action gets an error with the action escaped", async () => {
    const action = { type: "tap\u001b[31m\u202e", x: 1 };
    expect(await errorFor(createRequest({ action }))).toContain('"tap\\u{001b}[31m\\u{202e}"');
  });

  test("a call of one of several sessions that share the server may name its own session, and no other", async () => {
    const opened = await openEndpoint();
    opened.begin("shared", "api", "client-1");
    opened.begin("next", "api", "client-2");
    const ask = async (session_id: string, invocation_id: string) =>
      (await resultOf(await post(opened, createRequest({ session_id, invocation_id })))).type;
    expect(await ask("client-1", "shared")).toBe("call_tool_result");
    expect(await ask(sessionId, "shared")).toBe("call_tool_result");
    expect(await ask("client-2", "shared")).toBe("error");
    expect(await ask("session-2", "shared")).toBe("error");
    expect(await ask("client-1", "next")).toBe("error");
    expect(opened.calls).toHaveLength(2);
  });

  test("unknown and ended invocations, and those of other servers, get the same error", async () => {
    const opened = await openEndpoint();
    opened.begin("ended")();
    opened.begin("other", "other");
    const answers = new Set<string>();
    for (const id of ["unknown", "ended", "other", "__proto__", ""]) {
      const response = await post(opened, createRequest({ invocation_id: id }));
      answers.add(`${response.status} ${await response.text()}`);
    }
    expect([...answers]).toEqual([expect.stringMatching(/^200 \{"result":\{"type":"error",/)]);
    expect(opened.calls).toEqual([]);
  });
});

describe("a call that is not made gets 200 without success", () => {
  test.each<[string, string]>([
    ["an array", "[]"],
    ["invalid JSON", "{a:1}"],
    ["a deep nest", `{"a":${"[".repeat(1000)}${"]".repeat(1000)}}`],
  ])("arguments given as %s are rejected", async (_what, text) => {
    const opened = await openEndpoint();
    const response = await post(opened, createRequest({}, { arguments_json: text }));
    expect(response.status).toBe(200);
    expect(await resultOf(response)).toEqual(failedWith(expect.stringMatching(/"arguments_json".*\.$/)));
    expect(opened.calls).toEqual([]);
  });

  test("arguments named like properties of Object.prototype are accepted, and unknown keys ignored", async () => {
    const opened = await openEndpoint();
    const json =
      '{"constructor":1,"prototype":{"toString":1},"isPrototypeOf":["é😀"],"__proto__":{"isAdmin":true}}';
    await post(opened, createRequest({ future: 1 }, { hint: "x", arguments_json: json }));
    const [args] = opened.calls.map((call) => call.arguments);
    expect(JSON.stringify(args)).toBe(json);
    expect(args).not.toHaveProperty("isAdmin");
  });
});

test("a body at the limit is read, and one byte more is rejected, announced or not", async () => {
  const opened = await openEndpoint();
  const spare = 4096 - Buffer.byteLength(JSON.stringify(createRequest({ padding: "" })));
  const fits = JSON.stringify(createRequest({ padding: "x".repeat(spare) }));
  const bodies: [string, number][] = [
    [fits, 200],
    [`${fits} `, 413],
  ];
  for (const [body, status] of bodies) {
    expect((await post(opened, body)).status).toBe(status);
    const connection = await openConnection(opened.endpoint.port);
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    await connection.send(formatHead(opened, { "Transfer-Encoding": "chunked" }) + chunks);
    expect((await connection.answers(1)).map((answer) => answer.status)).toEqual([status]);
  }
  expect(opened.calls).toHaveLength(2);
});
