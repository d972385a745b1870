// Addresses within the page: "#/runs/demo?sample=2". They hold all that a view shows, so that a
// view can be shared by its address.

export interface Route {
  path: string[];
  parameters: URLSearchParams
}

export function currentRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decodePart),
    parameters: new URLSearchParams(query)
  };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function address(
    path: string[], parameters: Record<string, string|undefined>|URLSearchParams = {}): string {
  const query = parameters instanceof URLSearchParams ? parameters : new URLSearchParams();
  if (!(parameters instanceof URLSearchParams)) {
    for (const [key, value] of Object.entries(parameters))
      if (value) query.append(key, value);
  }
  const text = query.toString();
  return `#/${path.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

// Sets parameters of the address in place: a view that changed itself.
export function remember(parameters: Record<string, string|undefined>): void {
  const route = currentRoute();
  for (const [key, value] of Object.entries(parameters)) {
    if (value === undefined || value === '')
      route.parameters.delete(key);
    else
      route.parameters.set(key, value);
  }
  history.replaceState(null, '', address(route.path, route.parameters));
}
