import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A call that a model makes. `written`: its arguments as JSON, or what the model takes for it. */
export interface ModelCall {
  id: string;
  name: string;
  written: string;
}

export interface ModelServer {
  /** Of the server, without a path. */
  url: string;
  /** The bodies of the requests so far. */
  requests: Record<string, unknown>[];
  close(): Promise<void>;
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

const responses = (calls: readonly ModelCall[] | undefined, text: string) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "test",
  output: calls?.map(({ id, name, written }) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: written,
    status: "completed",
  })) ?? [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    },
  ],
});

const chat = (calls: readonly ModelCall[] | undefined, text: string) => ({
  id: "chat_1",
  object: "chat.completion",
  created: 1,
  model: "test",
  choices: [
    {
      index: 0,
      finish_reason: calls === undefined ? "stop" : "tool_calls",
      message:
        calls === undefined
          ? { role: "assistant", content: text }
          : {
              role: "assistant",
              content: null,
              tool_calls: calls.map(({ id, name, written }) => ({
                id,
                type: "function",
                function: { name, arguments: written },
              })),
            },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

/** Anthropic's API has parsed the arguments. What is no JSON reaches the client as a text. */
function parseInput(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
}

const messages = (calls: readonly ModelCall[] | undefined, text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "test",
  stop_reason: calls === undefined ? "end_turn" : "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
  content:
    calls === undefined
      ? [{ type: "text", text }]
      : calls.map(({ id, name, written }) => ({ type: "tool_use", id, name, input: parseInput(written) })),
});

/** What the last message or item of a conversation says: the result of a call. */
function lastOf(body: Record<string, unknown>): string {
  const list = (body.input ?? body.messages) as { content?: unknown; output?: unknown }[];
  const last = list.at(-1);
  return JSON.stringify(last?.output ?? last?.content);
}

/**
 * Answers as the APIs of OpenAI and Anthropic do: each first with these calls, then with a text that has the results as the model
 * got them.
 */
export async function startModelServer(calls: readonly ModelCall[]): Promise<ModelServer> {
  const requests: Record<string, unknown>[] = [];
  const answered = new Set<string>();
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      requests.push(body);
      const { pathname } = new URL(request.url ?? "/", "http://127.0.0.1");
      const asked = answered.has(pathname) ? undefined : calls;
      // A text ends the conversation, and the next request begins another.
      if (asked === undefined) answered.delete(pathname);
      else answered.add(pathname);
      const answer = pathname.endsWith("/responses")
        ? responses
        : pathname.endsWith("/messages")
          ? messages
          : chat;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer(asked, `The tool said ${lastOf(body)}`)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
