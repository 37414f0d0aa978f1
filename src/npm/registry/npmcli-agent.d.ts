/** The parts of @npmcli/agent 4 that are used here; it ships no types. */
declare module "@npmcli/agent" {
  import type { Agent, ClientRequest } from "node:http";

  /** npm's agent for an address, shared by all requests with the same options. */
  export function getAgent(
    url: string,
    options: Record<string, unknown>,
  ): Agent & { addRequest(request: ClientRequest, options: object): void };
}
