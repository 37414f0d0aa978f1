// Opens the session of the current folder in a new process, with `start` from the command line if it is there, and prints the milliseconds of wall and of CPU time that takes.
import { openSession } from "../../dist/session.mjs";

const [begun, begunCpu] = [performance.now(), process.cpuUsage()];
const [, , start] = process.argv;
const session = await openSession(start === undefined ? {} : { start });
const wall = performance.now() - begun;
const { user, system } = process.cpuUsage(begunCpu);
const { tools, skipped } = session;
await session.close();
process.stdout.write(
  JSON.stringify({ wall, cpu: (user + system) / 1000, tools: tools.length, skipped: skipped.length }),
);
