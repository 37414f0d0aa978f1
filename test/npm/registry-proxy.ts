import { createServer, type ServerResponse } from "node:http";
import { listen } from "../support/listen.ts";

export interface ProxyRequest {
  path: string;
  /** How often this path was asked for, from 1. */
  count: number;
}

export interface RegistryProxy {
  /** With a slash at its end. */
  url: string;
  paths: string[];
  /** Answers in another way; true where it did. */
  intercept: (request: ProxyRequest, response: ServerResponse) => boolean;
  /** Changes a JSON document on its way. */
  rewrite: (path: string, document: Record<string, unknown>) => Record<string, unknown>;
}

/** Stands before a real registry and lies as it is told; ends with the test. */
export async function startRegistryProxy(upstream: string): Promise<RegistryProxy> {
  const counts = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    const count = (counts.get(path) ?? 0) + 1;
    counts.set(path, count);
    proxy.paths.push(path);
    if (proxy.intercept({ path, count }, response)) return;
    const { accept = "*/*" } = request.headers;
    const answer = await fetch(new URL(path.slice(1), upstream), { headers: { accept } });
    const type = answer.headers.get("content-type") ?? "application/octet-stream";
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, { "content-type": type });
    if (!type.includes("json")) return response.end(bytes);
    const text = bytes.toString().replaceAll(upstream, proxy.url);
    return response.end(JSON.stringify(proxy.rewrite(path, JSON.parse(text))));
  });
  const { port } = await listen(server);
  const proxy: RegistryProxy = {
    url: `http://127.0.0.1:${port}/`,
    paths: [],
    intercept: () => false,
    rewrite: (_path, document) => document,
  };
  return proxy;
}
