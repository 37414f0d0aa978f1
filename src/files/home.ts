import { homedir } from "node:os";

/** The user's home, which a process without HOME and without an entry in the system's table has not. */
export function findHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
