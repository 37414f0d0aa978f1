import { type ChildProcess, spawn } from "node:child_process";

/** A minimal client: lines of JSON, answers by id. Validates and supervises nothing. */
export class RawClient {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, (message: { result: unknown }) => void>();
  #id = 0;

  constructor(args: readonly string[]) {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.#child = child;
    let rest = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line);
        this.#pending.get(message.id)?.(message);
        this.#pending.delete(message.id);
      }
    });
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  request(method: string, params: object): Promise<{ result: unknown }> {
    const id = this.#id++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  /** Initializes the server and lists its tools. */
  async ready(): Promise<void> {
    const clientInfo = { name: "raw", version: "1.0.0" };
    await this.request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    this.#send({ method: "notifications/initialized" });
    await this.request("tools/list", {});
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once("exit", () => resolve());
      this.#child.stdin?.end();
    });
  }
}
