/** Names of the loopback interface. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** An IP address. DNS rebinding needs a name, so addresses are safe. */
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const authority = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;

/** A host as URLs write it: IPv6 in brackets, its zone escaped. */
export const hostInUrl = (host: string): string =>
  host.includes(":") ? `[${host.replace("%", "%25")}]` : host;

/** Whether a host is reachable only from this machine. */
export const isLoopback = (host: string): boolean => loopback.test(hostInUrl(host.toLowerCase()));

const isWildcard = (host: string): boolean => /^(?:0\.0\.0\.0|::|::0|0:0:0:0:0:0:0:0|)$/.test(host);

/** The form in which browsers send an origin; `undefined` for a text that is none. */
export function readOrigin(text: string): string | undefined {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@\\*]+\/?$/i.test(text)) return undefined;
  return /^https?:/i.test(text) && URL.canParse(text)
    ? new URL(text).origin
    : text.toLowerCase().replace(/\/$/, "");
}

/** Whether a text is a name or an address, with or without a port. */
export const isAuthority = (text: string): boolean => authority.test(text.toLowerCase());

/** Whether `Host`, or the host of an `Origin`, is this server. `defaultPort` applies if the value has none. */
export type IsOurHost = (value: string, port: number, defaultPort: number) => boolean;

/**
 * Guards against DNS rebinding: a page whose host name resolves to this server sends its own name. On loopback, only
 * loopback names with our port pass. A server on all addresses cannot know its own names or its public port: any
 * address passes, and localhost, and the allowed hosts.
 */
export function createHostCheck(bound: string, allowedHosts: readonly string[]): IsOurHost {
  const own = hostInUrl(bound.toLowerCase());
  const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isOpen = isWildcard(bound);
  return (value, port, defaultPort) => {
    const [whole, host = "", written] = authority.exec(value.toLowerCase()) ?? [];
    if (whole === undefined) return false;
    if (allowed.has(host) || allowed.has(whole)) return true;
    if (isOpen) return address.test(host) || host === "localhost";
    return Number(written ?? defaultPort) === port && (loopback.test(host) || host === own);
  };
}
