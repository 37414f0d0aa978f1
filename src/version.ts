import manifest from "../package.json" with { type: "json" };

/** The version of this host, which `engines.trailblaze` of a pack is compared with. */
export const hostVersion: string = manifest.version;
