import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { makeTree } from "../support/packs.ts";
import { runProcess } from "../support/run-process.ts";
import { remoteManifest } from "./stand-in-registry.ts";
import { useHome } from "./user-home.ts";

type Answer = (response: ServerResponse, path: string) => void;

const stages = ["search", "manifest", "packument", "tarball"] as const;
type Stage = (typeof stages)[number];

/** More than the limit of any answer, which is 256 MiB for a tarball. */
const tooLong = Buffer.alloc(272 << 20, " ");
const encode = {
  gzip: () => gzipSync(tooLong, { level: 1 }),
  deflate: () => deflateSync(tooLong, { level: 1 }),
  "raw deflate": () => deflateRawSync(tooLong, { level: 1 }),
  br: () => brotliCompressSync(tooLong, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
const encoded = new Map<string, Buffer>();
const bomb = (encoding: keyof typeof encode) => encoded.get(encoding) ?? Buffer.alloc(0);

beforeAll(() => {
  for (const [encoding, make] of Object.entries(encode)) encoded.set(encoding, make());
});

const headersOf = (encoding: string) => ({
  "content-type": "application/json",
  "content-encoding": encoding.replace("raw ", ""),
});

function sendBomb(encoding: keyof typeof encode, status = 200): Answer {
  return (response) => response.writeHead(status, headersOf(encoding)).end(bomb(encoding));
}

/** Sends for as long as there is somebody to send to. */
function sendForever(response: ServerResponse): void {
  const chunk = Buffer.alloc(1 << 20, " ");
  const send = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", send);
  send();
}

const half = JSON.stringify(remoteManifest("tb-hostile")).slice(0, 60);
const redirect = (location: string, send: (response: ServerResponse) => void): Answer => {
  return (response) => {
    response.writeHead(302, { location });
    send(response);
  };
};

/** What a registry sends, by name, and what the reason says of it. */
const answers: Readonly<Record<string, readonly [Answer, RegExp]>> = {
  gzip: [sendBomb("gzip"), /\d+ MiB/],
  deflate: [sendBomb("deflate"), /\d+ MiB/],
  "raw deflate": [sendBomb("raw deflate"), /\d+ MiB/],
  br: [sendBomb("br"), /\d+ MiB/],
  plain: [
    (response) => {
      response.writeHead(200);
      sendForever(response);
    },
    /\d+ MiB/,
  ],
  "gzip with 401": [sendBomb("gzip", 401), /credentials/],
  "br with 500": [sendBomb("br", 500), /status 500/],
  "plain with 503": [
    (response) => {
      response.writeHead(503);
      sendForever(response);
    },
    /status 503/,
  ],
  "gzip that breaks off": [
    (response) => {
      response.writeHead(200, headersOf("gzip"));
      response.write(bomb("gzip").subarray(0, 4000), () => response.destroy());
    },
    /read/,
  ],
  "gzip that is none": [(response) => response.writeHead(200, headersOf("gzip")).end("none"), /read/],
  "gzip in gzip": [
    (response) => response.writeHead(200, headersOf("gzip, gzip")).end(gzipSync(bomb("gzip"))),
    /encoding/,
  ],
  "another encoding": [(response) => response.writeHead(200, headersOf("zstd")).end("?"), /encoding/],
  "a length too large": [
    (response) => {
      response.writeHead(200, { "content-length": 4000 });
      response.write(half, () => response.destroy());
    },
    /read/,
  ],
  "a length too small": [
    (response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n${half}`, () =>
        response.socket?.destroy(),
      );
    },
    /JSON|package/,
  ],
  "silence in the middle": [
    (response) => {
      response.writeHead(200, { "content-length": 4000 });
      response.write(half);
    },
    /in time/,
  ],
  "silence in the middle of gzip": [
    (response) => {
      response.writeHead(200, headersOf("gzip"));
      response.write(bomb("gzip").subarray(0, 4000));
    },
    /in time/,
  ],
  "an upgrade": [
    (response) => {
      response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    },
    /read|in time/,
  ],
  "headers without end": [
    (response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${`x: ${"y".repeat(1000)}\r\n`.repeat(100)}`);
    },
    /read/,
  ],
  "a redirect with a long body": [redirect("/elsewhere", sendForever), /\d+ MiB|status 500/],
  "a redirect to a bomb": [redirect("/bomb", (response) => response.end()), /\d+ MiB/],
  "a redirect to itself": [redirect("", (response) => response.end()), /read/],
  "a redirect to a file": [redirect("file:///etc/hostname", (response) => response.end()), /read/],
  "a redirect to data": [redirect("data:application/json,{}", (response) => response.end()), /read/],
  "a redirect to nothing": [redirect("http://[", (response) => response.end()), /read/],
};

/** A registry on loopback that answers well up to a stage, and then as told: `/<stage>/<index of the answer>/…`. */
async function startHostile(): Promise<string> {
  const known = Object.values(answers);
  const server = createServer((request, response) => {
    response.on("error", () => {});
    const path = request.url ?? "/";
    if (path === "/bomb") return sendBomb("gzip")(response, path);
    if (path === "/elsewhere") return response.writeHead(500).end();
    const [, stage = "", index = "", ...rest] = path.split("/");
    const asked: Stage = path.endsWith(".tgz")
      ? "tarball"
      : rest[0] === "-"
        ? "search"
        : rest.length === 2
          ? "manifest"
          : "packument";
    if (stage === asked) return known[Number(index)]?.[0](response, path);
    const base = `http://${request.headers.host}/${stage}/${index}/`;
    const manifest = remoteManifest("tb-hostile", { dist: { tarball: `${base}tb-hostile.tgz` } });
    return response.end(JSON.stringify(manifest));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const host = fileURLToPath(new URL("./hostile-registry-host.ts", import.meta.url));

/** Lets a process of its own ask a hostile registry; whatever goes wrong outside of a request ends that process. */
async function askHostile(stage: Stage, names: readonly string[], more: { abortMs?: number } = {}) {
  const url = await startHostile();
  const home = useHome([]);
  const known = Object.keys(answers);
  const asked = names.map((name) => ({
    cwd: makeTree({
      "package.json": { name: "app" },
      ".npmrc": `registry=${url}${stage}/${known.indexOf(name)}/\n`,
    }),
    stage,
    // Only what never comes is worth no longer wait.
    timeoutMs: /^(silence|an upgrade)/.test(name) ? 500 : 60_000,
    ...more,
  }));
  const args = ["--import", import.meta.resolve("tsx"), host, JSON.stringify(asked)];
  const result = await runProcess(process.execPath, args, {
    cwd: home,
    env: { ...process.env, HOME: home, XDG_CACHE_HOME: join(home, "cache") },
    timeoutMs: 110_000,
    input: "",
  });
  expect(result.stderr).toBe("");
  expect(result.exitCode).toBe(0);
  return JSON.parse(result.stdout) as {
    ends: { code: string; args: object }[];
    maxRssMiB: number;
  };
}

test.each(stages)(
  "every hostile response to a %s request is rejected and leaves no handle open",
  async (stage) => {
    // One reader decodes the answers of all stages; at 256 MiB, one encoding shows that it has the tarball's limit.
    const isRepeated = (name: string) =>
      stage === "tarball" && /^(deflate|raw|br$|a redirect to a bomb)/.test(name);
    const names = Object.keys(answers).filter((name) => !isRepeated(name));
    const { ends } = await askHostile(stage, names);
    for (const [index, name] of names.entries()) {
      // What came to its end as a tarball is looked at as one.
      const isWhole = stage === "tarball" && name === "a length too small";
      expect(ends[index], name).toMatchObject({
        code: isWhole ? "InstallFailed" : "RegistryUnavailable",
        args: { reason: expect.stringMatching(answers[name]?.[1] ?? /^$/) },
      });
    }
  },
  120_000,
);

test("an aborted request leaves no handle open", async () => {
  const names = ["plain", "silence in the middle of gzip", "a redirect with a long body"];
  for (const stage of ["search", "tarball"] as const) {
    const { ends } = await askHostile(stage, names, { abortMs: 100 });
    expect(ends.map(({ code }) => code)).toEqual(names.map(() => "RegistryUnavailable"));
  }
});

test("a compression bomb is rejected with less memory than its decompressed size", async () => {
  const names = ["gzip", "br", "br with 500", "a redirect to a bomb"];
  const harmless = await askHostile("search", ["gzip that is none"]);
  const { maxRssMiB } = await askHostile("search", names);
  // A bomb that is kept whole adds its own size at least.
  expect(maxRssMiB - harmless.maxRssMiB).toBeLessThan(tooLong.length >> 20);
});
