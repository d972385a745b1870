// Elements, made in one expression. Text is set as text: nothing here is ever parsed as HTML.

export type Child = Node|string|number|null|undefined|false|Child[];
type Attributes = Record<string, string|number|boolean|undefined|((event: Event) => void)>;

// An attribute that is a function listens to the event of that name.
export function h<K extends keyof HTMLElementTagNameMap>(
    tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function')
      element.addEventListener(name, value);
    else
      element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

export function add(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child))
      add(parent, child);
    else
      parent.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  add(parent, children);
}

let lastId = 0;

export function newId(prefix: string): string {
  lastId += 1;
  return `${prefix}-${lastId}`;
}
