import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listen } from "../support/listen.ts";

export interface SeenRequest {
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
}

export interface StandInOptions {
  /** Manifests of the newest versions, by any order; hits are made from them. */
  manifests?: readonly Record<string, unknown>[];
  /** Answers in another way; true where it did. */
  intercept?: (request: SeenRequest, response: ServerResponse) => boolean;
}

export interface StandIn {
  /** With a slash at its end. */
  url: string;
  seen: SeenRequest[];
  /** Paths that were asked for, without queries. */
  paths(): string[];
  options: StandInOptions;
  close(): Promise<void>;
}

const textOf = (manifest: Record<string, unknown>) => `${manifest.name} ${manifest.description ?? ""}`;

function search(query: URLSearchParams, options: StandInOptions) {
  const words = (query.get("text") ?? "").split(" ").filter((word) => word !== "");
  const fits = (manifest: Record<string, unknown>, word: string) =>
    word.startsWith("keywords:")
      ? ((manifest.keywords ?? []) as readonly string[]).includes(word.slice(9))
      : textOf(manifest).includes(word);
  const found = (options.manifests ?? []).filter((one) => words.every((word) => fits(one, word)));
  const from = Number(query.get("from") ?? 0);
  const size = Math.min(Number(query.get("size") ?? 20), 250);
  const objects = found.slice(from, from + size).map(({ name, version, description, keywords: list }) => ({
    package: { name, version, description, keywords: list ?? [] },
  }));
  return { objects, total: found.length };
}

function answer({ path, query }: SeenRequest, response: ServerResponse, options: StandInOptions) {
  const send = (value: unknown) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (path === "/-/v1/search") return send(search(query, options));
  const [name = "", version] = path.slice(1).split("/").map(decodeURIComponent);
  const manifest = options.manifests?.find((one) => one.name === name);
  if (manifest === undefined) return response.writeHead(404).end("{}");
  if (version === undefined) {
    const latest = String(manifest.version);
    return send({ name, "dist-tags": { latest }, versions: { [latest]: manifest } });
  }
  return ["latest", manifest.version].includes(version) ? send(manifest) : response.writeHead(404).end("{}");
}

/** A registry on loopback that behaves as it is told; it ends with the test. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://stand-in");
    const one = { path: pathname, query: searchParams, headers: request.headers };
    seen.push(one);
    if (standIn.options.intercept?.(one, response) === true) return;
    answer(one, response, standIn.options);
  });
  const { port, stop } = await listen(server);
  const standIn: StandIn = {
    url: `http://127.0.0.1:${port}/`,
    seen,
    paths: () => seen.map(({ path }) => path),
    options,
    close: stop,
  };
  return standIn;
}

/** A manifest as a registry gives it. */
export function remoteManifest(name: string, fields: Readonly<Record<string, unknown>> = {}) {
  return {
    name,
    version: "1.2.3",
    description: `The pack ${name}.`,
    keywords: ["trailblaze-extension"],
    trailblaze: { tools: ["greet"] },
    ...fields,
  };
}
