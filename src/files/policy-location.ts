// The only place that knows where an administrator's policy is. No option and no variable changes it; tests replace this
// module.

/** A policy file, and the user that it must belong to. */
export interface PolicyLocation {
  /** Absolute. */
  file: string;
  owner: number;
}

const root = 0;

/** Where the policy of a system is. Fixed, also on Windows, where users can set the variables that name its folders. */
export function findPolicyLocation(platform: NodeJS.Platform = process.platform): PolicyLocation {
  if (platform === "win32") return { file: "C:\\Program Files\\Trailblaze\\policy.json", owner: root };
  if (platform === "darwin")
    return { file: "/Library/Application Support/Trailblaze/policy.json", owner: root };
  return { file: "/etc/trailblaze/policy.json", owner: root };
}
