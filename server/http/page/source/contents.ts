// A list of contents: the headings that `body` has, and those it gets while it is filled.
import {h, replace} from './dom';

const kFewest = 3;

function go(heading: HTMLElement): void {
  heading.tabIndex = -1;
  heading.scrollIntoView();
  heading.focus({preventScroll: true});
}

export function contents(body: HTMLElement): HTMLElement {
  const list = h('ul');
  const nav = h('nav', {class: 'contents', 'aria-label': 'On this page', hidden: true}, list);
  let shown: HTMLElement[] = [];
  const update = () => {
    const headings = [...body.querySelectorAll<HTMLElement>('section > h2')];
    if (headings.length === shown.length && headings.every((each, i) => each === shown[i])) return;
    shown = headings;
    nav.hidden = headings.length < kFewest;
    replace(
        list,
        headings.map(
            (heading) =>
                h('li', {},
                  h('button', {type: 'button', click: () => go(heading)}, heading.textContent))));
  };
  new MutationObserver(update).observe(body, {childList: true, subtree: true});
  update();
  return nav;
}
