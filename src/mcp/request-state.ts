import { randomBytes } from "node:crypto";
import type { RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { markIntegers, unmarkText } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { failure } from "../problems/index.ts";
import { badRequest } from "./rpc-error.ts";

/** How long clients may take to answer. */
const ttlSeconds = 600;
const shortestKey = 32;

/** Seals what a call has to know when it is made again with answers. Clients can read it, but cannot change it. */
export interface StateSeal {
  /** `request`: what the state belongs to; another request cannot use it. */
  seal(request: unknown, state: unknown): Promise<string>;
  /** Rejects with `RpcError` for a state that is not of this seal and request, or too old. */
  open(request: unknown, sealed: string): Promise<unknown>;
}

/**
 * The key in TRAILBLAZE_STATE_KEY, which replicas of a server share; otherwise a random one. Throws `InvalidArguments` if it
 * is too short.
 */
export function readStateKey({ TRAILBLAZE_STATE_KEY: key = "" }: NodeJS.ProcessEnv = process.env): Buffer {
  if (key === "") return randomBytes(shortestKey);
  const bytes = Buffer.from(key);
  if (bytes.length >= shortestKey) return bytes;
  const reason = `TRAILBLAZE_STATE_KEY has ${bytes.length} bytes, but it must have at least ${shortestKey}`;
  throw failure("InvalidArguments", { reason, hint: "Set it to a long random string, or unset it." });
}

/** The same text for the same JSON: clients may send keys in another order. */
const writeSorted = (value: object): string =>
  unmarkText(
    JSON.stringify(markIntegers(value), (_, inner: unknown) =>
      isRecord(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
        : inner,
    ),
  );

/** Creates a seal for a server. `token`: what clients authenticate with. */
export function createStateSeal(
  key: Buffer = readStateKey(),
  token: string | undefined = undefined,
): StateSeal {
  // What the SDK passes on to `bind` is the request of `seal` and `open`.
  const bind = (request: unknown) => writeSorted([request, token ?? null]);
  let codec: Promise<RequestStateCodec<unknown>> | undefined;
  const load = () => {
    codec ??= import("@modelcontextprotocol/server").then(({ createRequestStateCodec }) =>
      createRequestStateCodec({ key, ttlSeconds, bind }),
    );
    return codec;
  };
  return {
    seal: async (request, state) => (await load()).mint(state, request as ServerContext),
    async open(request, sealed) {
      const { verify } = await load();
      try {
        return await verify(sealed, request as ServerContext);
      } catch (error) {
        const isOld = error instanceof Error && error.message === "expired";
        const reason = isOld
          ? "has expired. Make the request again without it"
          : "is not valid for this request";
        throw badRequest(`params.requestState ${reason}.`);
      }
    },
  };
}
