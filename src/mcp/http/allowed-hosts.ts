/** The names of this machine to itself. */
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
/** An address: no page can make a browser believe that it belongs to another site's name. */
const address = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;
const authority = /^([a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;

/** As it is written in a URL: IPv6 in brackets, a zone escaped. */
export const hostInUrl = (host: string): string =>
  host.includes(":") ? `[${host.replace("%", "%25")}]` : host;

/** Whether only this machine reaches what listens there. */
export const isLoopback = (host: string): boolean => loopback.test(hostInUrl(host.toLowerCase()));

const isWildcard = (host: string): boolean => /^(?:0\.0\.0\.0|::|::0|0:0:0:0:0:0:0:0|)$/.test(host);

/** Tells whether `Host`, or the host of an `Origin`, means this server. `defaultPort` is what it means without one. */
export type IsOurHost = (value: string, port: number, defaultPort: number) => boolean;

/**
 * The guard against DNS rebinding: a page of another site whose name was made to resolve to us sends its own name.
 * On loopback only names of loopback with our port pass. A server for all addresses cannot know under which it is
 * reached, or through which port: any address passes, and of names localhost and those allowed.
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
