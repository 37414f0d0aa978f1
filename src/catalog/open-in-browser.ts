import { spawn } from "node:child_process";

/** The program of the system that opens a file as its user wants, and its arguments before the file. */
function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens a file in the user's program for it, which outlives this process. Resolves with whether that program started. */
export function openInBrowser(file: string): Promise<boolean> {
  const [command, ...args] = openerOf(process.platform);
  const child = spawn(command, [...args, file], { detached: true, stdio: "ignore" });
  child.unref();
  return new Promise((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
}
