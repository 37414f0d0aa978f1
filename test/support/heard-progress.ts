interface Listening {
  onmessage?: unknown;
}

type OnMessage = (message: unknown, ...rest: unknown[]) => void;

/**
 * The progress that reaches a client's transport from now on, in its order, without tokens.
 * The SDK's clients forget a call's `onprogress` as soon as its answer is read, and drop progress that was
 * read in the same chunk: a test that wants all of it cannot use that option.
 */
export function hearProgress({ transport }: { transport?: Listening | undefined }): object[] {
  if (!transport) throw new Error("connect the client first");
  const heard: object[] = [];
  const next = transport.onmessage as OnMessage | undefined;
  transport.onmessage = (message: unknown, ...rest: unknown[]) => {
    const { method, params } = message as { method?: string; params?: Record<string, unknown> };
    if (method === "notifications/progress") {
      const { progressToken: _token, ...step } = params ?? {};
      heard.push(step);
    }
    next?.(message, ...rest);
  };
  return heard;
}
