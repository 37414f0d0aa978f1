import { createRequestStateCodec, type ServerContext } from "@modelcontextprotocol/server";
import { markIntegers, unmarkText } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { badRequest } from "./client-message.ts";
import { readStateKey } from "./served-server.ts";

/** How long clients may take to answer. */
const ttlSeconds = 600;

/** Seals what a call has to know when it is made again with answers. Clients can read it, but cannot change it. */
export interface StateSeal {
  /** `request`: what the state belongs to; another request cannot use it. */
  seal(request: unknown, state: unknown): Promise<string>;
  /** Rejects with `RpcError` for a state that is not of this seal and request, or too old. */
  open(request: unknown, sealed: string): Promise<unknown>;
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
  const codec = createRequestStateCodec<unknown>({ key, ttlSeconds, bind });
  return {
    seal: (request, state) => codec.mint(state, request as ServerContext),
    async open(request, sealed) {
      try {
        return await codec.verify(sealed, request as ServerContext);
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
