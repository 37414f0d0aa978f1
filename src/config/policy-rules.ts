import { createProblem, type Problem, type ProblemContext } from "../problems/index.ts";
import { qualifyPackageName } from "../qualified-names/item-name.ts";
import { matchesAny } from "./packs-policy.ts";

/** A pattern of npm names, and the versions that it means. */
export interface PackageRule {
  /** One pattern, without the range. */
  names: readonly [string];
  /** Whether a version is in the range; `undefined` without a range, which means every version. */
  includes: ((version: string) => boolean) | undefined;
}

/** A machine's policy: what its administrator allows. It only narrows what configs, options and flags allow. */
export interface AdministratorPolicy {
  /** Absolute path. */
  file: string;
  /** As written, for showing it. */
  settings: Readonly<Record<string, unknown>>;
  /** Whom to ask. Not trusted to be printable. */
  contact: string | undefined;
  packs: {
    /** `undefined` allows every pack. */
    allow: readonly PackageRule[] | undefined;
    /** Takes precedence over `allow`. */
    deny: readonly PackageRule[];
  };
  /** Whether the config's processes and URLs may be used. */
  allowsConfigServers: boolean;
  /** Normalized addresses; `undefined` allows every registry. */
  registries: readonly string[] | undefined;
  /** How strict locks are at least; `undefined` leaves it to the config. */
  lock: "surface" | "code" | "frozen" | undefined;
  isolation: "process" | undefined;
  requireConfinement: boolean;
  /** Whether packages may be installed. */
  allowsInstall: boolean;
}

/** Whether the policy allows a version of a package. A version that is unknown fits no range of `allow`, and all of `deny`. */
export function isPackageAllowed(
  { packs: { allow, deny } }: AdministratorPolicy,
  name: string,
  version: string | null,
): boolean {
  const names = [qualifyPackageName(name)];
  const isDenied = deny.some(
    (rule) =>
      matchesAny(rule.names, names) &&
      (version === null || rule.includes === undefined || rule.includes(version)),
  );
  if (isDenied || allow === undefined) return !isDenied;
  return allow.some(
    (rule) =>
      matchesAny(rule.names, names) &&
      (rule.includes === undefined || (version !== null && rule.includes(version))),
  );
}

/** Whether the policy allows any version of a package. */
export function mayPackageBeAllowed({ packs: { allow, deny } }: AdministratorPolicy, name: string): boolean {
  const names = [qualifyPackageName(name)];
  if (deny.some((rule) => rule.includes === undefined && matchesAny(rule.names, names))) return false;
  return allow === undefined || allow.some((rule) => matchesAny(rule.names, names));
}

/** Whether the policy allows a registry, by its address. */
export function isRegistryAllowed({ registries }: AdministratorPolicy, address: string): boolean {
  return registries === undefined || registries.includes(normalizeRegistry(address) ?? "");
}

/** A registry's address in one form: without credentials, with a slash at its end; `undefined` if it is none. */
export function normalizeRegistry(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host, pathname } = new URL(address);
  if (protocol !== "https:" && protocol !== "http:") return undefined;
  return `${protocol}//${host}${pathname.replace(/\/*$/, "/")}`;
}

/** What a policy excludes. */
export type Denied =
  | { what: "pack"; name: string; version: string | null }
  | { what: "server"; name: string }
  | { what: "registry"; name: string; registry: string }
  | { what: "install"; name: string }
  | { what: "code" };

/** The problem of what the policy excludes. For bystanders, such as a pack in a list, it is only an info. */
export function describeDenied(
  { file, contact }: AdministratorPolicy,
  denied: Denied,
  context: ProblemContext = "operation",
): Problem {
  const place = denied.what === "server" || denied.what === "code" ? {} : { pack: denied.name };
  return createProblem("DeniedByPolicy", { ...denied, policy: file, contact }, place, context);
}
