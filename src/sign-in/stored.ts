// What is kept of sign-ins: a file for each server, in the user's state folder.
import { createHash } from "node:crypto";
import { chmodSync, existsSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type {
  AuthorizationServerMetadata,
  OAuthTokens,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { attempt } from "../files/file-errors.ts";
import { lockFile } from "../files/file-lock.ts";
import { findUserFolder } from "../files/user-folders.ts";
import { makeFolders, readBytes, removeDrafts, replaceFile } from "../files/write-files.ts";
import type { OAuthSettings, RemotePlan } from "../runtime/server-launches.ts";

/** A server to sign in to. Its headers are for it alone. */
export interface SignInServer extends Pick<RemotePlan, "label" | "url" | "headers"> {
  oauth: OAuthSettings;
}

export interface Tokens extends Pick<OAuthTokens, "access_token" | "refresh_token" | "scope"> {
  /** When they were received, and how long they last. Milliseconds; `null` for an unknown life. */
  receivedAt: number;
  lifeMs: number | null;
}

/** Who issues a server's tokens, and its endpoints. Nothing of a sign-in is for another issuer. */
export interface Issuer {
  issuer: string;
  metadata: AuthorizationServerMetadata;
  resource: string;
}

export interface StoredSignIn extends Issuer {
  url: string;
  /** Without a secret from the config. */
  client: StoredOAuthClientInformation;
  /** The redirect URL with which the client was registered here; `undefined` for a client that the config names. */
  redirectUrl?: string | undefined;
  tokens?: Tokens | undefined;
}

const maximumBytes = 1 << 20;

/** The file of a server's sign-in. Throws without a state folder. */
function findSignInFile(url: URL): string {
  const state = findUserFolder("state");
  if (state === undefined) throw new Error("there is no folder for the state of applications");
  const name = createHash("sha256").update(url.href).digest("hex");
  return join(state, "trailblaze", "oauth", `${name}.json`);
}

/** The sign-in to a server; `undefined` without one that can be read, or by another issuer than the config has. Others may not read it. */
export function readSignIn({ url, oauth }: Pick<SignInServer, "url" | "oauth">): StoredSignIn | undefined {
  return attempt(() => {
    const file = findSignInFile(url);
    const record: StoredSignIn = JSON.parse(String(readBytes(file, maximumBytes)));
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    const { issuer, resource, metadata, client, tokens } = record;
    const texts = [issuer, resource, metadata.token_endpoint, client.client_id, tokens?.access_token ?? ""];
    const isWhole = texts.every((text) => typeof text === "string") && record.url === url.href;
    const isOfIssuer = metadata.issuer === issuer && (oauth.issuer ?? issuer) === issuer;
    return isWhole && isOfIssuer ? record : undefined;
  });
}

/**
 * Runs `use` while no other process renews or replaces the sign-in to a server. `write` replaces or deletes it, and returns
 * whether there was one.
 */
export async function withSignInLock<Result>(
  url: URL,
  use: (write: (record: StoredSignIn | undefined) => boolean) => Result | Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const file = findSignInFile(url);
  const folder = dirname(file);
  makeFolders(folder, 0o700);
  chmodSync(folder, 0o700);
  const release = await lockFile(file, { signal });
  try {
    removeDrafts(file);
    return await use((record) => {
      const isThere = existsSync(file);
      if (record === undefined) rmSync(file, { force: true });
      else replaceFile(file, Buffer.from(JSON.stringify(record)), 0o600);
      return isThere;
    });
  } finally {
    release();
  }
}

/** The longest life that is believed. Seconds. */
const longestLife = 1e10;

/** Tokens as they are kept. `asked`: their scope, if the issuer does not say it. */
export function toTokens(
  { access_token, refresh_token, scope, expires_in: life }: OAuthTokens,
  asked?: string,
): Tokens {
  const lifeMs = life === undefined || life > longestLife ? null : life * 1000;
  return { access_token, refresh_token, scope: scope ?? asked, receivedAt: Date.now(), lifeMs };
}

/** In ISO 8601; `null` if it is unknown. */
export const expiryOf = ({ receivedAt, lifeMs }: Tokens): string | null =>
  lifeMs === null ? null : new Date(receivedAt + lifeMs).toISOString();

export const scopesOf = (scope = ""): string[] => scope.split(/\s+/).filter((one) => one !== "");

/** The shortest life that is left of a token that is used. Milliseconds. */
const shortestMs = 60_000;

/** Whether a token is renewed before it is used: one of an unknown life only after it was refused. */
export const isEnding = ({ receivedAt, lifeMs }: Tokens): boolean =>
  lifeMs !== null && receivedAt + lifeMs - Date.now() < Math.min(shortestMs, lifeMs / 2);
