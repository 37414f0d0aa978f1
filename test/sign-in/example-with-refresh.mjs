// Loaded before the SDK's example of a protected server, whose issuer grants no refresh tokens: adds them, each for one use.
import { randomUUID } from "node:crypto";
import { DemoInMemoryAuthProvider as Provider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { InvalidGrantError } from "@modelcontextprotocol/sdk/server/auth/errors.js";

const grants = new Map();

function addRefreshToken(answer, grant) {
  const refresh_token = randomUUID();
  grants.set(refresh_token, grant);
  return { ...answer, refresh_token };
}

const { exchangeAuthorizationCode } = Provider.prototype;
Provider.prototype.exchangeAuthorizationCode = async function (...args) {
  const answer = await exchangeAuthorizationCode.apply(this, args);
  return addRefreshToken(answer, this.tokens.get(answer.access_token));
};
Provider.prototype.exchangeRefreshToken = async function (_client, refreshToken) {
  const grant = grants.get(refreshToken);
  if (grant === undefined) throw new InvalidGrantError("unknown");
  grants.delete(refreshToken);
  // The token before ends at once, so that a call that succeeds has used the new one.
  this.tokens.delete(grant.token);
  const token = randomUUID();
  const renewed = { ...grant, token, expiresAt: Date.now() + 3_600_000 };
  this.tokens.set(token, renewed);
  return addRefreshToken({ access_token: token, token_type: "bearer", expires_in: 3600 }, renewed);
};
