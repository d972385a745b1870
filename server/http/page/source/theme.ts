// Light, dark, or as the system says. Colours are CSS variables; charts ask for their values.

const key = 'sinkd-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

// A page opened from disk may have no storage.
function stored(): string {
  try {
    return localStorage.getItem(key) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function store(value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    return;
  }
}

function apply(value: string): void {
  document.documentElement.dataset.theme = value;
  listeners.forEach((listener) => listener());
}

export function startTheme(): void {
  const select = document.getElementById('theme') as HTMLSelectElement;
  select.value = stored();
  apply(select.value);
  select.addEventListener('change', () => {
    store(select.value);
    apply(select.value);
  });
  dark.addEventListener('change', () => listeners.forEach((listener) => listener()));
}

export function onThemeChange(listener: () => void): void { listeners.add(listener); }

export interface Palette {
  text: string;
  soft: string;
  line: string;
  surface: string;
  primary: string;
  secondary: string;
  noise: string;
  accent: string;
  ramps: Record<'primary'|'secondary'|'noise'|'heat', string[]>;
  categories: string[];
}

export function palette(): Palette {
  const probe = document.body.appendChild(document.createElement('span'));
  const colour = (name: string) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const ramp = (name: string) => [`${name}-low`, name, `${name}-high`].map(colour);
  const result: Palette = {
    text: colour('text'),
    soft: colour('soft'),
    line: colour('line'),
    surface: colour('surface'),
    primary: colour('primary'),
    secondary: colour('secondary'),
    noise: colour('noise'),
    accent: colour('accent'),
    ramps: {
      primary: ramp('primary'),
      secondary: ramp('secondary'),
      noise: ramp('noise'),
      heat: ['heat-0', 'heat-1', 'heat-2', 'heat-3', 'heat-4'].map(colour),
    },
    categories: ['secondary', 'primary', 'noise', 'accent'].map(colour),
  };
  probe.remove();
  return result;
}
