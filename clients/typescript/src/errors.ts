/** What kind of failure it is. `UNREACHABLE` is the client's own: the platform did not answer. */
export type Code =
  | "BAD_REQUEST"
  | "UNAUTHENTICATED"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "PAYLOAD_TOO_LARGE"
  | "RATE_LIMITED"
  | "UNAVAILABLE"
  | "INTERNAL"
  | "UNREACHABLE";

/** One thing that is wrong with a request. */
export interface Fault {
  /** Where: an argument, or a member of the body; empty for the request as a whole. */
  location: string;
  message: string;
}

/** Everything that can be told of a failure besides its sentence. */
export interface Details {
  /** A finer word than the code, such as `otp_required`, `limit_reached` or `session_ended`. */
  reason?: string | undefined;
  /** HTTP status; undefined where there was no answer of its own. */
  status?: number | undefined;
  /** Each single fault of the request. */
  faults?: Fault[] | undefined;
  /** The path of the field that failed, in GraphQL. */
  path?: (string | number)[] | undefined;
  /** Seconds after which another try makes sense. */
  retryAfter?: number | undefined;
  /** Finds the request in the platform's log. */
  requestId?: string | undefined;
  /** Of `limit_reached` and `rate_limited`: the limit, how much there is, and how much there may be. */
  limit?: { name: string; used?: number | undefined; max: number } | undefined;
  /** What GraphQL answered all the same. */
  data?: unknown;
  /** All errors of a GraphQL answer, where there are several; this one is the first. */
  all?: CanopyError[] | undefined;
  cause?: unknown;
}

/** Why the platform did not do what was asked. `message` is a sentence for people. What is aborted by a signal throws its reason instead. */
export class CanopyError extends Error {
  readonly code: Code;
  readonly reason: string | undefined;
  readonly status: number | undefined;
  readonly faults: Fault[];
  readonly path: (string | number)[] | undefined;
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly limit: Details["limit"];
  readonly data: unknown;
  readonly all: CanopyError[];

  constructor(code: Code, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "CanopyError";
    this.code = code;
    this.reason = details.reason;
    this.status = details.status;
    this.faults = details.faults ?? [];
    this.path = details.path;
    this.retryAfter = details.retryAfter;
    this.requestId = details.requestId;
    this.limit = details.limit;
    this.data = details.data;
    this.all = details.all ?? [this];
  }
}

const codes: Record<number, Code> = {
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
  404: "NOT_FOUND",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "UNAVAILABLE",
};

/** The code of an HTTP status. */
function codeOf(status: number): Code {
  return codes[status] ?? (status >= 500 ? "INTERNAL" : "BAD_REQUEST");
}

/** An error as GraphQL shows it. */
export interface GraphQLFault {
  message: string;
  path?: (string | number)[];
  extensions?: {
    code?: Code;
    reason?: string;
    errors?: Fault[];
    requestId?: string;
    retryAfter?: number;
    limit?: string;
    used?: number;
    max?: number;
  };
}

/** The errors of a GraphQL answer as one: the first, which knows all of them. */
export function fromGraphQL(errors: GraphQLFault[], data?: unknown, status?: number, retryAfter?: number): CanopyError {
  const all: CanopyError[] = [];
  for (const { message, path, extensions: x = {} } of errors) {
    const limit = x.limit === undefined || x.max === undefined ? undefined : { name: x.limit, used: x.used, max: x.max };
    all.push(
      new CanopyError(x.code ?? codeOf(status ?? 500), message, {
        reason: x.reason, status, faults: x.errors, path, retryAfter: retryAfter ?? x.retryAfter, requestId: x.requestId, limit, data, all,
      }),
    );
  }
  return all[0] ?? new CanopyError("INTERNAL", "the answer has neither data nor errors", { status, data });
}

/** What RFC 9457, RFC 6749 or GraphQL has in the body of a refusal. */
interface Refusal {
  title?: string;
  detail?: string;
  code?: string;
  error?: string;
  errors?: (Fault & GraphQLFault)[];
  requestId?: string;
  limit?: string;
  used?: number;
  max?: number;
}

/** Why a request was refused. */
export async function fromResponse(response: Response): Promise<CanopyError> {
  const body = (await response.json().catch(() => ({}))) as Refusal;
  const after = Number(response.headers.get("Retry-After") ?? NaN);
  const retryAfter = Number.isFinite(after) ? after : undefined;
  const { status } = response;
  if (body.errors?.[0]?.extensions) return fromGraphQL(body.errors, undefined, status, retryAfter);
  const code = codeOf(status);
  return new CanopyError(code, body.detail ?? body.title ?? `the answer has the status ${status}`, {
    reason: body.code === code ? undefined : (body.code ?? body.error),
    status,
    faults: body.errors,
    retryAfter,
    requestId: body.requestId ?? response.headers.get("X-Request-Id") ?? undefined,
    limit: body.limit === undefined || body.max === undefined ? undefined : { name: body.limit, used: body.used, max: body.max },
  });
}
