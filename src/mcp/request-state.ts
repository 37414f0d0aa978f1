import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { markIntegers, unmarkText } from "../data/exact-integers.ts";
import { isRecord } from "../data/parse-json.ts";
import { failure } from "../problems/index.ts";
import { badRequest } from "./rpc-error.ts";

/** How long clients may take to answer. Milliseconds. */
const lifetimeMs = 10 * 60_000;
const shortestKey = 32;

/** Seals what a call has to know when it is made again with answers. Clients can read it, but cannot change it. */
export interface StateSeal {
  /** `request`: what the state belongs to; another request cannot use it. */
  seal(request: unknown, state: unknown): string;
  /** Throws `RpcError` for a state that is not of this seal and request, or too old. */
  open(request: unknown, sealed: string): unknown;
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

/** Creates a seal for a server. `token`: what clients authenticate with. `now`: milliseconds since 1970. */
export function createStateSeal(
  key: Buffer = readStateKey(),
  token: string | undefined = undefined,
  now: () => number = Date.now,
): StateSeal {
  const sign = (request: unknown, body: string) =>
    createHmac("sha256", key)
      .update(writeSorted([request, token ?? null, body]))
      .digest();
  return {
    seal(request, state) {
      const body = Buffer.from(JSON.stringify({ until: now() + lifetimeMs, state })).toString("base64url");
      return `${body}.${sign(request, body).toString("base64url")}`;
    },
    open(request, sealed) {
      const [body = "", signature = "", ...rest] = sealed.split(".");
      const [given, expected] = [Buffer.from(signature, "base64url"), sign(request, body)];
      // Decoding ignores some characters, so the text is compared, too.
      const isOwn =
        given.length === expected.length &&
        timingSafeEqual(given, expected) &&
        signature === expected.toString("base64url") &&
        rest.length === 0;
      if (!isOwn) throw badRequest("params.requestState is not valid for this request.");
      const { until, state } = JSON.parse(Buffer.from(body, "base64url").toString()) as {
        until: number;
        state: unknown;
      };
      if (now() > until)
        throw badRequest("params.requestState has expired. Make the request again without it.");
      return state;
    },
  };
}
