// What every view is: it fills `main`, and stops asking when `signal` says that it is left.
import {replace} from '../dom';
import {failure, loading} from '../notice';

export interface Context {
  main: HTMLElement;
  parameters: URLSearchParams;
  signal: AbortSignal;
}

export type View = (context: Context, id: string) => Promise<void>;

// Fills `place` with what `load` gives; says meanwhile that it loads, and afterwards why it failed.
export async function fill(
    place: Element, what: string, signal: AbortSignal, load: () => Promise<Node>): Promise<void> {
  replace(place, loading(what));
  try {
    const content = await load();
    if (!signal.aborted) replace(place, content);
  } catch (error) {
    if (!signal.aborted) replace(place, failure(error, () => void fill(place, what, signal, load)));
  }
}
