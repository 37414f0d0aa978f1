import { makeTemporaryFolder } from "./temporary-folder.ts";

/** Logs of sessions and backups go to a folder of the run, not to those of the user who runs the tests. */
const state = makeTemporaryFolder();

export const setup = () => {
  process.env.XDG_STATE_HOME = state.path;
};

export const teardown = () => state.remove();
