import { addKillsWith } from "./add-kills.ts";
import { inProcessCalls, stdioCalls } from "./calls.ts";
import { definitions } from "./definitions.ts";
import { edits } from "./edits.ts";
import { installKills } from "./install-kills.ts";
import { manifests } from "./manifests.ts";
import { sessions } from "./sessions.ts";
import type { Part } from "./support/part.ts";

/** Every part by its name on the command line. */
export const parts: ReadonlyMap<string, Part> = new Map([
  ["sessions", sessions],
  ["in-process", inProcessCalls],
  ["stdio", stdioCalls],
  ["manifests", manifests],
  ["definitions", definitions],
  ["edits", edits],
  ["install-kills", installKills],
  ["add-kills", addKillsWith()],
]);
