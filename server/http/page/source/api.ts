// Answers of the JSON API: from the server the page came from, or from the data inside the file
// when it was written by `sinkctl report`.
import type {Status} from './types';

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

// What `ask` gives, unless the network fails.
async function reached<T>(signal: AbortSignal|undefined, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(
        'unreachable', 'The server does not answer.',
        'Is sinkd running, and is this the address of its --http-listen? The page can ask again.');
  }
}

function parse(body: string, code: number): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new ApiError(
        'failed', `The server answered ${code} with something that is no JSON.`,
        'A proxy between the page and sinkd may have answered instead.');
  }
}

async function fromServer<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await reached(
      signal,
      () => fetch(path, {headers: {Accept: 'application/json', ...credentials()}, signal}));
  const parsed = parse(await reached(signal, () => response.text()), response.status);
  if (!response.ok) throw fromStatus(response.status, parsed as Status);
  return parsed as T;
}

// Sends messages, and passes on each message of the answer as it arrives.
export async function post<T extends object>(
    path: string, messages: object[], tell: (message: T) => void,
    signal: AbortSignal): Promise<void> {
  const response = await reached(signal, () => fetch(path, {
                                           method: 'POST',
                                           headers: {
                                             Accept: 'application/jsonl',
                                             'Content-Type': 'application/jsonl',
                                             ...credentials()
                                           },
                                           body: messages.map((each) => `${JSON.stringify(each)}\n`)
                                                     .join(''),
                                           signal
                                         }));
  if (!response.ok) {
    const body = await reached(signal, () => response.text());
    throw fromStatus(response.status, parse(body, response.status) as Status);
  }
  await reachedLines(response, signal, (line) => {
    const message = parse(line, response.status) as T & {error?: Status};
    if (message.error) throw fromStatus(0, message.error);
    tell(message);
  });
}

async function reachedLines(
    response: Response, signal: AbortSignal, tell: (line: string) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let left = '';
  while (true) {
    const {value, done} = await reached(signal, () => reader.read());
    const lines = (left + (value ?? '')).split('\n');
    left = done ? '' : lines.pop()!;
    for (const line of lines)
      if (line.trim()) tell(line);
    if (done) return;
  }
}

function fromStatus(code: number, status: Status): ApiError {
  const info = status.details?.find((detail) => detail.reason !== undefined);
  const trouble: Trouble = info?.reason === 'STORE_OFF' ? 'store off' :
      code === 401                                      ? 'token' :
      code === 404                                      ? 'missing' :
      code !== 0 && code < 500                          ? 'refused' :
      code === 503                                      ? 'unreachable' :
                                                          'failed';
  return new ApiError(
      trouble, status.message || `The server answered ${code || 'with an error'}.`, info?.metadata?.fix ?? '');
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
