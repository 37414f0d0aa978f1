import { readFileSync } from "node:fs";
import type { NpmConfiguration } from "../../files/npm-configuration.ts";

/** Options of npm-registry-fetch, which may include credentials. */
export type FetchOptions = Record<string, unknown>;

const lineBreaks = (text: string) => text.replace(/\\n/g, "\n");

/** Retries by npm's keys, shorter than npm's own, whose first takes ten seconds. */
export const usualRetries: ReadonlyMap<string, number> = new Map([
  ["fetch-retries", 2],
  ["fetch-retry-factor", 4],
  ["fetch-retry-mintimeout", 500],
  ["fetch-retry-maxtimeout", 10_000],
]);

/** Splits a file into certificates, as TLS requires; `undefined` if it cannot be read. */
function readCertificates(file: string): string[] | undefined {
  const end = "-----END CERTIFICATE-----";
  try {
    const parts = readFileSync(file, "utf8").replace(/\r\n/g, "\n").split(end);
    return parts.filter((part) => part.trim() !== "").map((part) => part.trimStart() + end);
  } catch {
    return undefined;
  }
}

/**
 * Converts npm's configuration to options of npm-registry-fetch. Excludes registries that are not web addresses. The result
 * may contain credentials: pass it only to npm-registry-fetch.
 */
export function toFetchOptions(configuration: NpmConfiguration): FetchOptions {
  const text = (key: string) => {
    const value = configuration.get(key);
    return typeof value === "string" && value !== "" && value !== "null" ? value : undefined;
  };
  // No prototype, because keys come from files.
  const options: FetchOptions = Object.create(null);
  for (const [key, value] of configuration) {
    const isRegistry = /^@[^:]+:registry$/.test(key);
    if (isRegistry ? isWebAddress(value) : key.startsWith("//")) options[key] = value;
  }
  const registry = text("registry");
  if (isWebAddress(registry)) options.registry = registry;
  const ca = configuration.get("ca");
  const cafile = text("cafile");
  if (cafile !== undefined) options.ca = readCertificates(cafile);
  else if (Array.isArray(ca)) options.ca = ca.map(lineBreaks);
  else if (text("ca") !== undefined) options.ca = lineBreaks(text("ca") ?? "");
  for (const key of ["cert", "key"]) {
    const value = text(key);
    if (value !== undefined) options[key] = lineBreaks(value);
  }
  const proxy = text("proxy");
  if (proxy !== undefined && proxy !== "false") options.proxy = proxy;
  const named: readonly (readonly [string, string])[] = [
    ["https-proxy", "httpsProxy"],
    ["noproxy", "noProxy"],
  ];
  for (const [key, name] of named) {
    const value = text(key);
    if (value !== undefined) options[name] = value;
  }
  options.strictSSL = text("strict-ssl") !== "false";
  const [retries, factor, minTimeout, maxTimeout] = [...usualRetries].map(([key, usual]) =>
    Number(text(key) ?? usual),
  );
  options.retry = { retries, factor, minTimeout, maxTimeout };
  return options;
}

function isWebAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}
