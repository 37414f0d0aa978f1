import { randomBytes, timingSafeEqual } from "node:crypto";
import { digestOf } from "../mcp/http/check-head.ts";

/** The right of one server to call back, until it is ended. */
export interface Access {
  readonly server: string;
  /** False from the moment on at which the token was revoked. */
  isValid: boolean;
}

/** Tokens that were issued and not revoked. Only their digests are kept, so that none can be shown by accident. */
export class AccessTokens {
  readonly #issued = new Set<{ digest: Uint8Array; access: Access }>();

  /** A new token, 32 random bytes in base64url. */
  issue(server: string): string {
    const token = randomBytes(32).toString("base64url");
    this.#issued.add({ digest: digestOf(token), access: { server, isValid: true } });
    return token;
  }

  revoke(token: string): void {
    const digest = digestOf(token);
    for (const entry of this.#issued) {
      if (!timingSafeEqual(entry.digest, digest)) continue;
      entry.access.isValid = false;
      this.#issued.delete(entry);
    }
  }

  /** Takes the same time whatever the token has in common with one that is issued. */
  find(token: string): Access | undefined {
    const digest = digestOf(token);
    let found: Access | undefined;
    for (const entry of this.#issued) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.access;
    }
    return found;
  }
}
