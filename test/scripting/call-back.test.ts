// The callback, against a server on loopback that answers as it is told to.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { CallbackError, clientFrom } from "../../packages/scripting/src/index.ts";
import { listen } from "../support/listen.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serve(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => answer(request, response, body));
  });
  const { port } = await listen(server);
  return `http://127.0.0.1:${port}`;
}

const call = { device: null, memory: {}, sessionId: "s-1", invocationId: "i-1" };

async function clientOf(
  answer: Answer,
  { timeoutMs = 20_000, signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  const environment = {
    TRAILBLAZE_BASE_URL: await serve(answer),
    TRAILBLAZE_SESSION_TOKEN: "secret-token",
    TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS: String(timeoutMs),
  };
  return clientFrom(call, { environment, ...(signal === undefined ? {} : { signal }) });
}

const result =
  (fields: object): Answer =>
  (_request, response) => {
    const told = { type: "call_tool_result", success: true, text_content: "", error_message: "", ...fields };
    response.end(JSON.stringify({ result: told }));
  };

describe("a callback from a server", () => {
  test("a callback sends a request of version 1", async () => {
    let seen: unknown;
    const client = await clientOf((request, response, body) => {
      const { method, url, headers } = request;
      const { authorization, "content-type": type, origin } = headers;
      seen = { method, url, authorization, type, origin, body: JSON.parse(body) };
      result({ text_content: "hi", structured_content: { a: 1 } })(request, response, body);
    });
    expect(await client.callTool("greeter_greet", { name: "Ada" })).toEqual({
      content: [{ type: "text", text: "hi" }],
      structuredContent: { a: 1 },
      isError: false,
    });
    expect(seen).toEqual({
      method: "POST",
      url: "/scripting/callback",
      authorization: "Bearer secret-token",
      type: "application/json",
      origin: undefined,
      body: {
        version: 1,
        session_id: "s-1",
        invocation_id: "i-1",
        action: { type: "call_tool", tool_name: "greeter_greet", arguments_json: '{"name":"Ada"}' },
      },
    });
  });

  test("a callback resolves if the tool fails", async () => {
    const client = await clientOf(result({ success: false, error_message: "It broke.", text_content: "x" }));
    expect(await client.callTool("a_b")).toEqual({
      content: [{ type: "text", text: "It broke." }],
      isError: true,
    });
  });

  test.each<[string, Answer, string]>([
    [
      "a refusal",
      (_request, response) =>
        response.writeHead(401).end('{"result":{"type":"error","message":"No token."}}'),
      'The Trailblaze host refused to call "a_b": No token.',
    ],
    ["no JSON", (_request, response) => response.end("<html>"), 'The Trailblaze host refused to call "a_b".'],
    ["hanging up", (request) => request.socket.destroy(), "The Trailblaze host cannot be reached."],
  ])("a callback rejects for %s, and the message has no token", async (_, answer, message) => {
    const client = await clientOf(answer);
    const failure = await client.callTool("a_b").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CallbackError);
    expect((failure as CallbackError).message).toBe(message);
    expect(String((failure as CallbackError).stack)).not.toContain("secret-token");
  });

  test("a callback ends at the host's timeout", async () => {
    const client = await clientOf(() => {}, { timeoutMs: 50 });
    await expect(client.callTool("a_b")).rejects.toThrow("did not answer within 50 ms");
  });

  test("a callback ends with its call and closes the connection", async () => {
    const controller = new AbortController();
    let hungUp = () => {};
    const hasHungUp = new Promise<void>((resolve) => {
      hungUp = resolve;
    });
    const client = await clientOf(
      (request) => {
        request.socket.on("close", hungUp);
        controller.abort(new Error("enough"));
      },
      { signal: controller.signal },
    );
    await expect(client.callTool("a_b")).rejects.toThrow("enough");
    await hasHungUp;
    await expect(client.callTool("a_b")).rejects.toThrow("enough");
  });
});
