import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { listen } from "./listen.ts";
import { answerStart, sendJson } from "./remote-servers.ts";

/** A remote server and its issuer on one port: what a test changes of them. */
export interface Behavior {
  /** Where the issuer's metadata is. */
  metadata: "oauth-authorization-server" | "openid-configuration";
  hasResourceMetadata: boolean;
  isProtected: boolean;
  /** Merged into the metadata; `undefined` takes a key out. */
  changes: Record<string, unknown>;
  /** `iss` of the answer; `undefined` for none. */
  iss: string | undefined;
  /** Replaces the code in the answer. */
  answer: Record<string, string>;
  /** Parameters of the challenge. */
  challenge: string;
  expiresIn: number | undefined;
  /** Answers the token endpoint in place of the issuer. */
  token: ((form: URLSearchParams, response: ServerResponse) => boolean) | undefined;
  /** What a call needs. */
  callScope: string | undefined;
  /** In the metadata of the server; `undefined` for its URL. */
  resource: string | undefined;
}

export interface Seen {
  path: string;
  headers: IncomingMessage["headers"];
  form: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: any JSON.
  json: any;
}

/** Serves a protected server at /mcp, its issuer, and no consent page: `/authorize` redirects at once. */
export async function serveProtected(changes: Partial<Behavior> = {}) {
  const seen: Seen[] = [];
  const codes = new Map<string, URLSearchParams>();
  const resources: (string | null)[] = [];
  const refreshTokens = new Map<string, string>();
  /** Access tokens with their scopes. */
  const access = new Map<string, string>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { pathname: path, searchParams } = new URL(request.url ?? "/", origin);
    const isJson = request.headers["content-type"]?.includes("json") === true;
    const one = {
      path,
      headers: request.headers,
      form: new URLSearchParams(body),
      json: isJson && body ? JSON.parse(body) : undefined,
    };
    seen.push(one);
    response.setHeader("connection", "close");
    if (path === "/mcp") return serveMcp(one, request, response);
    if (path.startsWith("/.well-known/oauth-protected-resource") && behavior.hasResourceMetadata)
      return sendJson(response, 200, {
        resource: behavior.resource ?? url,
        authorization_servers: [origin],
        scopes_supported: ["read"],
      });
    if (path === `/.well-known/${behavior.metadata}`) return sendJson(response, 200, metadata());
    if (path === "/register")
      return sendJson(response, 201, { ...one.json, client_id: `client-${randomUUID()}` });
    if (path === "/authorize") return authorize(searchParams, response);
    if (path === "/token") return grant(one, response);
    return response.writeHead(404).end();
  });
  const { port } = await listen(server);
  const origin = `http://127.0.0.1:${port}`;
  const url = `${origin}/mcp`;
  const behavior: Behavior = {
    metadata: "oauth-authorization-server",
    hasResourceMetadata: true,
    isProtected: true,
    changes: {},
    iss: origin,
    answer: {},
    challenge: "",
    expiresIn: 3600,
    token: undefined,
    callScope: undefined,
    resource: undefined,
    ...changes,
  };

  const metadata = () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    jwks_uri: `${origin}/jwks`,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    ...behavior.changes,
  });

  function authorize(query: URLSearchParams, response: ServerResponse) {
    const code = randomUUID();
    codes.set(code, query);
    resources.push(query.get("resource"));
    const target = new URL(query.get("redirect_uri") ?? "");
    const state = query.get("state") ?? "";
    const answer = {
      state,
      ...(behavior.iss === undefined ? {} : { iss: behavior.iss }),
      code,
      ...behavior.answer,
    };
    if (behavior.answer.error !== undefined) Reflect.deleteProperty(answer, "code");
    for (const [name, value] of Object.entries(answer)) target.searchParams.set(name, value);
    response.writeHead(302, { location: target.href }).end();
  }

  function grant({ form }: Seen, response: ServerResponse) {
    if (behavior.token?.(form, response) === true) return;
    const asked = codes.get(form.get("code") ?? "");
    const isRefresh = form.get("grant_type") === "refresh_token";
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const scope =
      asked?.get("scope") ?? refreshTokens.get(form.get("refresh_token") ?? "") ?? form.get("scope") ?? "";
    const isKnown = isRefresh
      ? // Rotation: each is good for once.
        refreshTokens.delete(form.get("refresh_token") ?? "")
      : form.get("grant_type") === "client_credentials" || asked?.get("code_challenge") === verifier;
    if (!isKnown || form.get("resource") === null)
      return sendJson(response, 400, {
        error: "invalid_grant",
        error_description: `not ${form.get("code")}`,
      });
    codes.delete(form.get("code") ?? "");
    sendJson(response, 200, issue(scope));
  }

  function issue(scope: string) {
    const [access_token, refresh_token] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
    access.set(access_token, scope);
    refreshTokens.set(refresh_token, scope);
    return { access_token, refresh_token, token_type: "Bearer", scope, expires_in: behavior.expiresIn };
  }

  function serveMcp({ headers, json }: Seen, { method }: IncomingMessage, response: ServerResponse) {
    const scope = access.get(headers.authorization?.replace("Bearer ", "") ?? "");
    const challenge = `Bearer ${behavior.challenge}`;
    if (behavior.isProtected && scope === undefined)
      return response.writeHead(401, { "www-authenticate": challenge }).end("no");
    if (method !== "POST") return response.writeHead(405).end();
    if (json.id === undefined) return response.writeHead(202).end();
    const { callScope } = behavior;
    if (json.method === "tools/call" && callScope !== undefined && !scope?.split(" ").includes(callScope)) {
      const more = `Bearer error="insufficient_scope", scope="${callScope}"`;
      return response.writeHead(403, { "www-authenticate": more }).end();
    }
    const one = { http: method, headers, message: json, isAborted: false };
    const result = { content: [{ type: "text", text: "called" }] };
    sendJson(response, 200, answerStart(one) ?? { jsonrpc: "2.0", id: json.id, result });
  }

  return {
    ...{ url, origin, behavior, seen, issue },
    /** The requests to a path. */
    to: (path: string) => seen.filter((one) => one.path === path),
    /** The resources that sign-ins were for. */
    resources: () => resources,
    /** Makes the tokens that were issued unknown to the server. */
    revoke: () => access.clear(),
    tokens: () => [...access.keys(), ...refreshTokens.keys()],
  };
}
