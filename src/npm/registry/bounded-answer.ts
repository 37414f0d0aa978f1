import type { ClientRequest, IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, type ZlibOptions } from "node:zlib";
import { getAgent } from "@npmcli/agent";

/** An answer is longer than what may be read of it. */
export class AnswerTooLongError extends Error {
  override readonly name = "AnswerTooLongError";
}

/** An answer has an encoding that was not asked for; its name is the registry's own. */
export class UnknownEncodingError extends Error {
  override readonly name = "UnknownEncodingError";
}

/**
 * Keeps the answers to one request, redirects and refusals among them, within a number of bytes, and hands their bodies
 * on as they arrive. npm-registry-fetch reads the bodies of refusals to their end, and decodes every body at once:
 * kilobytes may become gigabytes before it can be stopped, and its decoder then throws an error that cannot be caught.
 */
export class AnswerBounds {
  readonly #maximumBytes: number;
  readonly #controller = new AbortController();
  #isExceeded = false;
  #encoding: string | undefined;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  /** Aborts when an answer is too long. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isExceeded(): boolean {
    return this.#isExceeded;
  }

  /** The option `agent` of npm-registry-fetch: npm's own agent for each address, with the answers watched. */
  createAgent(options: Record<string, unknown>): (url: URL) => object {
    return (url) => {
      const agent = getAgent(url.href, options);
      const addRequest = (request: ClientRequest, requestOptions: object) => {
        // Before the listener of npm-registry-fetch, which would decode what it finds encoded.
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

  /** Ends whatever of the answers is still on its way, such as unread bodies of redirects. */
  end(): void {
    this.#controller.abort();
  }

  /** The body of the last answer, decoded. Rejects with `AnswerTooLongError`, `UnknownEncodingError` or an error of zlib. */
  async decode(body: Uint8Array): Promise<Uint8Array> {
    const encoding = this.#encoding?.trim().toLowerCase() ?? "";
    if (encoding === "" || encoding === "identity") return body;
    const decode = encoding === "deflate" && !hasZlibHeader(body) ? inflateRaw : decoders.get(encoding);
    if (decode === undefined) throw new UnknownEncodingError(encoding);
    // As curl and npm do: some servers leave out the end.
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

/** Some servers send `deflate` without the header that it has by its definition. */
const hasZlibHeader = ([first = 0]: Uint8Array) => (first & 0x0f) === 8;
