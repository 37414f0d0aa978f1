import { findProgram } from "./find-program.ts";

/** The Chromium of this machine: TRAILBLAZE_CHROMIUM, or one on the PATH; `undefined` if there is none. */
export function findChromium(): string | undefined {
  return (
    process.env.TRAILBLAZE_CHROMIUM ||
    findProgram("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
  );
}
