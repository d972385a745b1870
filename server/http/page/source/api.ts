// Answers of the JSON API: from the server the page came from, or from the data inside the file
// when it was written by `sinkctl report`.

export type Trouble = 'unreachable'|'missing'|'store off'|'token'|'refused'|'failed';

export class ApiError extends Error {
  constructor(readonly trouble: Trouble, message: string, readonly fix = '') { super(message); }
}

export type Query = Record<string, string|number|string[]|undefined>;

interface Report {
  sinkctl?: string;
  created?: string;
  server?: string;
  responses: Record<string, unknown>
}

const embedded = readEmbedded();

function readEmbedded(): Report|undefined {
  const text = document.getElementById('sinkd-data')?.textContent?.trim();
  return text ? JSON.parse(text) as Report : undefined;
}

// What the file says of its own making; absent on a server's page.
export const report =
    embedded && {sinkctl: embedded.sinkctl, created: embedded.created, server: embedded.server};

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  if (embedded) return fromReport<T>(path, embedded);
  return fromServer<T>(path + queryText(query), signal);
}

function fromReport<T>(path: string, data: Report): T {
  const found = data.responses[path];
  if (found === undefined) {
    throw new ApiError(
        'missing', 'This report does not hold what the address asks for.',
        'A report holds the runs it was written for; the server has the others.');
  }
  return found as T;
}

// A token lives as long as its tab, and goes to the server that the page came from only.
const tokenKey = 'sinkd-token';

export function keepToken(token: string): void { sessionStorage.setItem(tokenKey, token); }

function credentials(): Record<string, string> {
  const token = sessionStorage.getItem(tokenKey);
  return token ? {Authorization: `Bearer ${token}`} : {};
}

async function fromServer<T>(path: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  let body: string;
  try {
    response = await fetch(path, {headers: {Accept: 'application/json', ...credentials()}, signal});
    body = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(
        'unreachable', 'The server does not answer.',
        'Is sinkd running, and is this the address of its --http-listen? The page can ask again.');
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new ApiError(
        'failed', `The server answered ${response.status} with something that is no JSON.`,
        'A proxy between the page and sinkd may have answered instead.');
  }
  if (!response.ok) throw fromStatus(response.status, parsed as Status);
  return parsed as T;
}

interface Status {
  message?: string;
  details?: {reason?: string; metadata?: Record<string, string>}[];
}

function fromStatus(code: number, status: Status): ApiError {
  const info = status.details?.find((detail) => detail.reason !== undefined);
  const trouble: Trouble = info?.reason === 'STORE_OFF' ? 'store off' :
      code === 401                                      ? 'token' :
      code === 404                                      ? 'missing' :
      code < 500                                        ? 'refused' :
      code === 503                                      ? 'unreachable' :
                                                          'failed';
  return new ApiError(
      trouble, status.message || `The server answered ${code}.`, info?.metadata?.fix ?? '');
}

function queryText(query: Query): string {
  const parts = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== '') parts.append(key, String(each));
    }
  }
  const text = parts.toString();
  return text ? `?${text}` : '';
}
