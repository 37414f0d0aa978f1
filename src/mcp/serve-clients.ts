// The ways to the servers that `McpServers` makes: connections such as stdio, sessions over HTTP, single requests.
import { createMcpHandler, type Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { isRecord } from "../data/parse-json.ts";
import { methodOf, requestIdOf } from "./client-message.ts";
import { ListenedResources, ListeningClient } from "./listened-resources.ts";
import { followChanges, McpServers, type ServingOptions } from "./mcp-server.ts";
import { findHeaderFault, findMirroredArguments, type MirroredArgument } from "./param-headers.ts";
import type { ModernHttpServer, ProtocolServer, ServedClients, ServedProtocol } from "./protocol-server.ts";
import { claimedRevision, findRefusedRevision, refuseRevision } from "./revisions.ts";
import type { Listing, ServedServer } from "./served-server.ts";

/** The error code for headers that disagree with the body. */
const headerMismatch = -32020;
const ignore = () => {};

/** Serves a session of a legacy client. */
export function createSession(
  clients: Pick<ServedClients, "legacy">,
  sessionId: string,
  options: ServingOptions,
): ProtocolServer {
  return new McpServers(clients.legacy({ sessionId }), "legacy", options).create(sessionId);
}

/** Serves one client over a connection such as stdio. What it says first decides its era, if both are served. */
export function createConnection(
  clients: ServedClients,
  sessionId: string,
  { protocol, ...options }: ServingOptions & { protocol: ServedProtocol },
): ProtocolServer {
  if (protocol === "legacy") return createSession(clients, sessionId, options);
  const { modern } = clients;
  let server: Server | undefined;
  let isLegacy = false;
  let stopFollowing = ignore;
  const listening = new ListeningClient(
    new ListenedResources(modern, (uri) => void server?.sendResourceUpdated({ uri }).catch(ignore)),
  );
  const create = ({ era }: { era: "legacy" | "modern" }) => {
    isLegacy = era === "legacy";
    stopFollowing();
    if (isLegacy) return new McpServers(clients.legacy({ sessionId }), era, options).create(sessionId);
    server = new McpServers(modern, era, options).create(null);
    stopFollowing = followChanges(modern, server);
    server.onclose = () => listening.close();
    return server;
  };
  let close = async () => {};
  return {
    async connect(transport) {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        if (!("method" in message) && message.id !== undefined) listening.end(message.id);
        return send(message, options);
      };
      const handle = serveStdio(create, { legacy: protocol === "both" ? "serve" : "reject", transport });
      close = () => handle.close();
      const receive = transport.onmessage;
      let isDecided = false;
      let isRefused = false;
      transport.onmessage = (message, extra) => {
        const id = requestIdOf(message);
        const claimed = claimedRevision(message);
        let refused = findRefusedRevision(message);
        if (!isDecided && id !== undefined && methodOf(message) !== "server/discover") {
          isDecided = true;
          // A modern client, too, but not for the SDK.
          isRefused = refused !== undefined;
        }
        if (claimed !== undefined && refused === undefined) isRefused = false;
        // The SDK would take a notification or a probe without a revision for the beginning of a legacy client.
        if (claimed === undefined && (isRefused || !isDecided))
          refused = { requested: paramsOf(message).protocolVersion };
        if (isLegacy || refused === undefined) listening.receive(message, (one) => receive?.(one, extra));
        else if (id !== undefined) void transport.send(refuseRevision(id, refused.requested)).catch(ignore);
      };
    },
    async close() {
      stopFollowing();
      listening.close();
      await close();
    },
  };
}

/** Serves modern clients over HTTP. Requests that are not of a modern revision are refused. */
export function createHttpServer(served: ServedServer, options: ServingOptions): ModernHttpServer {
  const servers = new McpServers(served, "modern", options);
  const handler = createMcpHandler(() => servers.create(null), { legacy: "reject" });
  const answer = (request: Request, message: unknown) => handler.fetch(request, { parsedBody: message });
  let known: readonly Listing[] | undefined;
  let mirrored = new Map<unknown, MirroredArgument[]>();
  const readMirrored = () => {
    const tools = served.list("tools");
    if (tools !== known)
      mirrored = new Map(tools.map(({ name, inputSchema }) => [name, findMirroredArguments(inputSchema)]));
    known = tools;
    return mirrored;
  };
  const stopFollowing = served.changing?.onChange(({ tools, prompts, resources }) => {
    if (tools) handler.notify.toolsChanged();
    if (prompts) handler.notify.promptsChanged();
    if (resources) handler.notify.resourcesChanged();
  });
  const listened = new ListenedResources(served, (uri) => handler.notify.resourceUpdated(uri));
  const listen = async (request: Request, message: unknown) => {
    const narrowed = await listened.narrow(message);
    const response = await answer(request, narrowed);
    // A refusal is no stream.
    if (response.headers.get("content-type") !== "text/event-stream" || request.signal.aborted)
      return response;
    const end = listened.follow(narrowed);
    request.signal.addEventListener("abort", end, { once: true });
    return response;
  };
  return {
    async answer(request, message) {
      const method = methodOf(message);
      if (method === "subscriptions/listen") return listen(request, message);
      if (method !== "tools/call") return answer(request, message);
      await served.changing?.ready();
      const { name, arguments: args } = paramsOf(message);
      const fault = findHeaderFault(readMirrored().get(name) ?? [], args, request.headers);
      if (fault === undefined) return answer(request, message);
      const error = { code: headerMismatch, message: fault };
      return Response.json({ jsonrpc: "2.0", id: requestIdOf(message) ?? null, error }, { status: 400 });
    },
    close: () => {
      stopFollowing?.();
      listened.close();
      return handler.close();
    },
  };
}

const paramsOf = (message: unknown): Record<string, unknown> =>
  isRecord(message) && isRecord(message.params) ? message.params : {};
