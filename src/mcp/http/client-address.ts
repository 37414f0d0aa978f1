import { isIPv6 } from "node:net";
import { isLoopback } from "./allowed-hosts.ts";

/** The first four of the eight groups of an IPv6 address: the network of one customer. */
function networkOf(address: string): string {
  const [before = "", after] = address.split("%", 1)[0]?.split("::") ?? [];
  const groups = before === "" ? [] : before.split(":");
  const rest = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - rest.length) }, () => "0");
  return [...groups, ...zeros, ...rest].slice(0, 4).join(":");
}

/** Identifies a client by its IP address. All of loopback counts as one client, as does an IPv6 network. */
export function clientOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (isLoopback(plain)) return "loopback";
  return isIPv6(plain) ? networkOf(plain) : plain;
}
