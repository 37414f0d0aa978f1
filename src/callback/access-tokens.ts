import { randomBytes, timingSafeEqual } from "node:crypto";
import { digestOf } from "../mcp/http/check-head.ts";

/** A server's permission to call back. */
export interface Access {
  readonly server: string;
  /** False after the token is revoked. */
  isValid: boolean;
}

/** The valid tokens. Stores only their digests, so that no token can leak from here. */
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

  /** Takes the same time for every token, valid or not. */
  find(token: string): Access | undefined {
    const digest = digestOf(token);
    let found: Access | undefined;
    for (const entry of this.#issued) {
      if (timingSafeEqual(entry.digest, digest)) found = entry.access;
    }
    return found;
  }
}
