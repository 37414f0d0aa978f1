import * as z from "zod/mini";

/** At most a day, or -1 for no limit. */
export const limitMs = z.union([z.literal(-1), z.int().check(z.minimum(1), z.maximum(86_400_000))], {
  error: "an integer from 1 to 86400000, or -1 for no limit",
});

const limit = (description: string) =>
  z.optional(limitMs.clone().register(z.globalRegistry, { description, title: "integer, or `-1` for none" }));

/** The limits of one server, of a pack or of the user's, instead of the config's. */
export const serverTimeouts = () =>
  z.object({
    handshakeMs: limit("The timeout for the server to answer initialize."),
    listMs: limit("The timeout for the server to list its tools."),
    callMs: limit("The timeout of a call."),
  });

/** Limits in milliseconds; -1 is none. */
export type ServerTimeouts = z.output<ReturnType<typeof serverTimeouts>>;
