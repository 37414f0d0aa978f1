// Opens the session of the current folder, says so, and closes it.
import { openSession } from "../../dist/session.mjs";

const session = await openSession();
process.stdout.write("open\n");
await session.close();
