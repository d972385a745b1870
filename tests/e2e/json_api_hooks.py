"""For schemathesis: what OpenAPI cannot say of a query, and names of what the server has."""

import itertools

import schemathesis

# None: as it was made, which is of nothing.
MODELS = itertools.cycle(["planted-table", "llama_grouped", None])
RUNS = itertools.cycle(["full", "small", "empty-00", None])


# Any text may be a policy, says the description; few are one.
POLICY = "name: few\nrules:\n- {name: sinks, measure: secondary_per_1000_tokens, at_most: 500}\n"


@schemathesis.hook
def before_call(context, case, kwargs):
    """Tokens come from the page before only, a label makes groups or none, most names are of
    something."""
    path, query = case.operation.path, case.query or {}
    if path == "/api/v1/runs":
        query.pop("pageToken", None)
    if path == "/api/v1/summaries":
        if query.get("grouping") != "LABEL":
            query.pop("label", None)
            query.pop("order", None)
        else:
            query.setdefault("label", "stage")
    if path == "/api/v1/audit" and case.meta.generation.mode.is_positive:
        query["policy"] = POLICY
    if "{id}" in path and case.meta.generation.mode.is_positive:
        name = next(MODELS if "models" in path else RUNS)
        case.path_parameters["id"] = name or case.path_parameters["id"]


@schemathesis.hook
def filter_query(context, query):
    """In an address a label's value is text, whatever it was before; its length is in bytes."""
    parts = dict(query or {})
    parts.update(parts.pop("labels", None) or {})
    labels = [(name, value) for name, value in parts.items() if name.startswith("label.")]
    return all(isinstance(value, str) and len(value.encode()) <= 255 and
               len(name.encode()) <= len("label.") + 63 for name, value in labels)
