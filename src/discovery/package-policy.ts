import { type PolicyRead, readPolicy } from "../config/administrator-policy.ts";
import {
  type AdministratorPolicy,
  type Denied,
  describeDenied,
  isPackageAllowed,
  isRegistryAllowed,
  mayPackageBeAllowed,
} from "../config/policy-rules.ts";
import type { DiscoveryPort } from "../files/discovery-port.ts";
import { type Problem, TrailblazeError } from "../problems/index.ts";

/** A package of a registry. */
interface RegistryPackage {
  name: string;
  version: string | null;
  /** The address of its registry, without credentials. */
  registry: string;
}

/** What the administrator's policy says about packages of registries. */
export class PackagePolicy {
  readonly #read: PolicyRead;

  constructor(read: PolicyRead) {
    this.#read = read;
  }

  /** Never rejects. */
  static async read(port: DiscoveryPort): Promise<PackagePolicy> {
    return new PackagePolicy(await readPolicy(port));
  }

  /** Throws for a policy that cannot be used: `PolicyUnsafe` or `PolicyMalformed`. */
  requireUsable(): void {
    if (this.#read.fault !== undefined) throw this.#read.fault;
  }

  /** Throws if no version of a package may be installed: `DeniedByPolicy`, or as `requireUsable` does. */
  requireName(name: string): void {
    this.requireUsable();
    this.#require(
      (policy) => policy.allowsInstall,
      () => ({ what: "install", name }),
    );
    this.#require(
      (policy) => mayPackageBeAllowed(policy, name),
      () => ({ what: "pack", name, version: null }),
    );
  }

  get limitsRegistries(): boolean {
    return this.#read.policy?.registries !== undefined;
  }

  /** Throws `DeniedByPolicy` if a registry may not be used, before anything is requested from it. */
  requireRegistry({ name, registry }: Omit<RegistryPackage, "version">): void {
    this.#require(
      (policy) => isRegistryAllowed(policy, registry),
      () => ({ what: "registry", name, registry }),
    );
  }

  /** Throws `DeniedByPolicy` if a version may not be installed. */
  requireVersion({ name, version }: Omit<RegistryPackage, "registry">): void {
    this.#require(
      (policy) => isPackageAllowed(policy, name, version),
      () => ({ what: "pack", name, version }),
    );
  }

  /** The problems of a search: that the policy cannot be used. */
  get problems(): Problem[] {
    const { fault } = this.#read;
    return fault === undefined ? [] : [{ ...fault.problem, severity: "warning" }];
  }

  /** Why a package that a search found may not be installed, as an info; `undefined` if it may. */
  findDenied({ name, version, registry }: RegistryPackage): Problem | undefined {
    const { policy } = this.#read;
    if (policy === undefined) return undefined;
    const denied: Denied | undefined = !isPackageAllowed(policy, name, version)
      ? { what: "pack", name, version }
      : !isRegistryAllowed(policy, registry)
        ? { what: "registry", name, registry }
        : undefined;
    return denied && describeDenied(policy, denied, "bystander");
  }

  /** The problem of definitions that would be evaluated without confinement; `undefined` if the policy allows it. */
  findUnconfined(): Problem | undefined {
    const { policy } = this.#read;
    return policy?.requireConfinement === true ? describeDenied(policy, { what: "code" }) : undefined;
  }

  #require(holds: (policy: AdministratorPolicy) => boolean, describe: () => Denied): void {
    const { policy } = this.#read;
    if (policy === undefined || holds(policy)) return;
    throw new TrailblazeError(describeDenied(policy, describe()));
  }
}
