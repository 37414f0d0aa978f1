import type { ClientRequest, IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { getAgent } from "@npmcli/agent";

/** Thrown if a response exceeds the limit on its size. */
export class AnswerTooLongError extends Error {
  override readonly name = "AnswerTooLongError";
}

/** Thrown if a response has an unsupported encoding, whose name is untrusted. */
export class UnknownEncodingError extends Error {
  override readonly name = "UnknownEncodingError";
}

/**
 * Limits the size of all responses to one request, including redirects and errors, and passes on their bodies without
 * decoding them. npm-registry-fetch reads the bodies of errors completely and decodes every body immediately: kilobytes
 * may expand to gigabytes, and its decoder then throws an error that cannot be caught.
 */
export class AnswerBounds {
  readonly #maximumBytes: number;
  readonly #controller = new AbortController();
  #isExceeded = false;
  #encoding: string | undefined;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Aborted if a response is too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** The option `agent` of npm-registry-fetch: npm's agent for each address, which monitors responses. */
  createAgent(options: Record<string, unknown>): (url: URL) => object {
    return (url) => {
      const agent = getAgent(url.href, options);
      const addRequest = (request: ClientRequest, requestOptions: object) => {
        // Runs before the listener of npm-registry-fetch, which would decode the body.
        request.once("response", (response) => this.#watch(response));
        agent.addRequest(request, requestOptions);
      };
      return Object.assign(Object.create(agent), { addRequest });
    };
  }

  #watch(response: IncomingMessage): void {
    this.#encoding = response.headers["content-encoding"];
    delete response.headers["content-encoding"];
    let length = 0;
    response.on("data", (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= this.#maximumBytes) return;
      this.#isExceeded = true;
      this.#controller.abort();
    });
  }

  /** Aborts unfinished responses, such as unread bodies of redirects. */
  end(): void {
    this.#controller.abort();
  }

  /** Decodes the body of the last response. Rejects with `AnswerTooLongError`, `UnknownEncodingError` or an error of zlib. */
  async decode(body: Uint8Array): Promise<Uint8Array> {
    const encoding = this.#encoding?.trim().toLowerCase() ?? "";
    if (encoding === "" || encoding === "identity") return body;
    const decode = encoding === "deflate" && !hasZlibHeader(body) ? inflateRaw : decoders.get(encoding);
    if (decode === undefined) throw new UnknownEncodingError(encoding);
    // Like curl and npm, accept bodies without the final block.
    const finishFlush =
      decode === brotliDecompress ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH;
    try {
      return await promisify<Uint8Array, ZlibOptions, Buffer>(decode)(body, {
        finishFlush,
        maxOutputLength: this.#maximumBytes,
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw new AnswerTooLongError();
      throw error;
    }
  }
}

type Decoder = typeof gunzip;

const decoders: ReadonlyMap<string, Decoder> = new Map([
  ["gzip", gunzip],
  ["x-gzip", gunzip],
  ["deflate", inflate],
  ["x-deflate", inflate],
  ["br", brotliDecompress as Decoder],
]);

/** Some servers send `deflate` without the required header. */
const hasZlibHeader = ([first = 0]: Uint8Array) => (first & 0x0f) === 8;
