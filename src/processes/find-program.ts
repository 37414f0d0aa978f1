import { accessSync, constants, statSync } from "node:fs";
import { delimiter, resolve } from "node:path";
import type { ProcessLaunch } from "./server-process.ts";

const isLocalBin = (folder: string) => /(?:^|[/\\])node_modules[/\\]\.bin[/\\]*$/.test(folder);

/** A `PATH` without the folders `node_modules/.bin`, whose programs come from any dependency. */
export function withoutLocalBin(path: string, platform: NodeJS.Platform): string {
  const separator = platform === "win32" ? ";" : ":";
  return path
    .split(separator)
    .filter((folder) => !isLocalBin(folder))
    .join(separator);
}

function describeFile(file: string): "program" | "file" | undefined {
  try {
    if (!statSync(file).isFile()) return undefined;
  } catch {
    return undefined;
  }
  try {
    accessSync(file, constants.X_OK);
    return "program";
  } catch {
    return "file";
  }
}

/**
 * The program to run for a command: a path stays, and a name is looked for in the launch's own PATH, but not in
 * `node_modules/.bin`, which npx and package scripts add to it. A file that is not executable counts only if
 * there is no other. `undefined` if nothing is found.
 */
export function findProgram(
  { command, cwd, env }: Omit<ProcessLaunch, "env"> & { env: Readonly<Record<string, string | undefined>> },
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (/[/\\]/.test(command)) return command;
  const name = Object.keys(env).find(
    (key) => key === "PATH" || (platform === "win32" && /^path$/i.test(key)),
  );
  const path = name === undefined ? undefined : env[name];
  if (path === undefined) return command;
  const endings = platform === "win32" ? ["", ".com", ".exe"] : [""];
  let other: string | undefined;
  for (const folder of path.split(delimiter)) {
    if (isLocalBin(folder)) continue;
    for (const ending of endings) {
      const file = resolve(cwd, folder, `${command}${ending}`);
      const kind = describeFile(file);
      if (kind === "program") return file;
      if (kind === "file") other ??= file;
    }
  }
  return other;
}
