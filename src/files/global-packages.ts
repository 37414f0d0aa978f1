import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";
import { parse } from "ini";

type Environment = Readonly<Record<string, string | undefined>>;

/** The `prefix` of an npmrc file, with `${NAME}` and a leading `~/` expanded as npm does. */
function readPrefix(file: string, env: Environment, home: string): string | undefined {
  try {
    const { prefix } = parse(readFileSync(file, "utf8"));
    if (typeof prefix !== "string" || prefix === "") return undefined;
    return prefix
      .replace(/\$\{([^}?]+)\??\}/g, (whole, name: string) => env[name] ?? whole)
      .replace(/^~(?=[/\\])/, home);
  } catch {
    return undefined;
  }
}

/**
 * npm's folder of globally installed packages, found as npm finds it: from the environment, the user's npmrc, the
 * global npmrc, else from where Node is. Runs nothing.
 */
export function findGlobalPackages(
  env: Environment,
  platform: NodeJS.Platform,
  execPath: string,
  home: string = homedir(),
): string {
  const { dirname, join, resolve } = platform === "win32" ? win32 : posix;
  const fromNode =
    platform === "win32"
      ? env.APPDATA
        ? join(env.APPDATA, "npm")
        : dirname(execPath)
      : dirname(dirname(execPath));
  const userConfig = env.npm_config_userconfig ?? env.NPM_CONFIG_USERCONFIG ?? join(home, ".npmrc");
  const globalConfig =
    env.npm_config_globalconfig ?? env.NPM_CONFIG_GLOBALCONFIG ?? join(fromNode, "etc", "npmrc");
  const prefix =
    env.npm_config_prefix ??
    env.NPM_CONFIG_PREFIX ??
    readPrefix(userConfig, env, home) ??
    readPrefix(globalConfig, env, home) ??
    env.PREFIX ??
    fromNode;
  return resolve(prefix, platform === "win32" ? "node_modules" : "lib/node_modules");
}
