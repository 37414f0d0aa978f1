import type { InstallationOptions } from "../../approval/installation.ts";
import type { CommandInput } from "../command.ts";
import { readSessionOptions } from "../session/session-command.ts";

/** The options of commands that read what is installed. The commands that start are printed first. */
export function readInstallationOptions(input: CommandInput, signal: AbortSignal): InstallationOptions {
  const { cwd, config, onCommand, onConnect } = readSessionOptions(input);
  return { cwd, config, onCommand, onConnect, signal };
}
