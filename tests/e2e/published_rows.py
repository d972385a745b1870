"""What was planted, as the paper's detection files (arXiv 2512.22213) would have it."""

from tests.e2e import model_root


def published_rows():
    """(rows, how many sinks there are of each (first layer, lifetime, kind))."""
    rows, levels = [], {}
    for index, record in enumerate(model_root.planted_records().values()):
        if record["primary"]["position"] != 0:
            continue  # rows know position 0 only
        start, end = record["primary"]["window"]
        found = {"0": {"layer": list(range(start, end)), "token_id": 0, "sink_type": "bos_sink"}}
        for sink in record["sinks"]:
            kind = "bos_sink" if sink["kind"] == "primary" else sink["kind"]
            found[str(sink["position"])] = {
                "layer": sink["layers"], "token_id": record["token_ids"][sink["position"]],
                "sink_type": kind}
            level = sink["layers"][0], len(sink["layers"]), sink["kind"]
            levels[level] = levels.get(level, 0) + 1
        rows.append({"candidate_sinks": found, "sample_index": index,
                     "prompt_len": record["positions"], "response_len": 0,
                     "full_text_len": record["positions"]})
    return rows, levels
