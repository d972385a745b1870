"""What notebooks show: texts with their sinks, whatever the texts hold, and pictures.

    python -m tests.python.shown_test BUILD_DIR ORACLE_DIR
"""

import html.parser

import matplotlib.pyplot as plt
from sinks.v1 import records_pb2
from sinkd import Record
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import main
from tests.python import client_case
from tests.python.client_case import TEXT, ClientCase, samples

HOSTILE = ("<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", '" onmouseover="alert(1)', "&lt;b&gt;",
           "$\\href{javascript:alert(1)}{x}$", "\u202egnirts\u2066", "\x00\x1b[31m\x7f", "a\u200bb", "\u2028")


def setUpModule():
    client_case.set_up()


class Page(html.parser.HTMLParser):
    """What a browser would make of HTML: its elements, attributes and text."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.marked, self.text, self._in_mark = [], [], "", False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag == "mark":
            self._in_mark = True
            self.marked.append("")

    def handle_endtag(self, tag):
        self._in_mark = self._in_mark and tag != "mark"

    def handle_data(self, data):
        self.text += data
        if self._in_mark:
            self.marked[-1] += data


class Texts(ClientCase):
    def test_a_record_shows_its_text_with_its_sinks_marked(self):
        record, = self.client.scores(PLANTED, TEXT).records
        page = Page(record._repr_html_())
        self.assertIn(TEXT, page.text)
        self.assertEqual(page.marked, [record.primary.token_text, *(each.token_text for each in record.sinks)])
        titles = [attributes["title"] for tag, attributes in page.elements if tag == "mark"]
        self.assertIn("secondary sink at 7, layers 9-28, score 0.3399", titles)

    def test_hostile_texts_are_shown_as_text(self):
        record = records_pb2.SampleRecord(sample_id="".join(HOSTILE), positions=len(HOSTILE))
        record.portrait.token_texts.extend(HOSTILE)
        record.primary.layers.append(1)
        record.sinks.extend(records_pb2.Sink(position=at, kind=2, token_text=each, layers=[at])
                            for at, each in enumerate(HOSTILE))
        without = records_pb2.SampleRecord()
        without.CopyFrom(record)
        without.ClearField("portrait")
        for message in (record, without):
            page = Page(Record(message)._repr_html_())
            self.assertLessEqual({tag for tag, _ in page.elements}, {"pre", "b", "mark"})
            for tag, attributes in page.elements:
                self.assertLessEqual(set(attributes), {"pre": {"class", "style"}, "mark": {"title", "style"}}.get(tag, set()))
            self.assertIn("mathjax_ignore", page.elements[0][1]["class"])
            for text in HOSTILE[:5]:
                self.assertIn(text, page.text)
            for invisible in "\u202e\u2066\x00\x1b\x7f\u200b\u2028":
                self.assertNotIn(invisible, page.text)
                self.assertIn(f"\\u{{{ord(invisible):x}}}", page.text)

    def test_an_analysis_shows_its_first_records(self):
        analysis = self.client.detect(PLANTED, [TEXT] * 12)
        self.assertIn("not begun", Page(analysis._repr_html_()).text)
        page = Page(analysis.read()._repr_html_())
        self.assertEqual(page.text.count(TEXT), 10)
        self.assertIn("and 2 more", page.text)


class Pictures(ClientCase):
    def tearDown(self):
        plt.close("all")

    def test_of_levels(self):
        analysis = self.client.levels(PLANTED, samples()).read()
        axes = analysis.plot()
        dots = [tuple(map(int, each)) for of in axes.collections for each in of.get_offsets()]
        self.assertEqual(sorted(dots), sorted((each.l_start, each.lifetime) for each in analysis.summary.levels.counts))

    def test_of_the_regression(self):
        analysis = self.client.regress(PLANTED, samples(), points=True).read()
        for y, points in (("score", analysis.summary.regression.score_points),
                          ("lifetime", analysis.summary.regression.lifetime_points)):
            axes = analysis.plot(y=y)
            drawn = [tuple(each) for each in axes.collections[0].get_offsets().tolist()]
            self.assertEqual(drawn, [(each.x, each.y) for each in points])
        with self.assertRaisesRegex(ValueError, "points=True"):
            self.client.regress(PLANTED, samples()).plot()

    def test_of_compensation(self):
        analysis = self.client.compensation(PLANTED, samples()).read()
        lines = {each.get_label(): each.get_ydata() for each in analysis.plot().lines}
        for name in ("primary", "secondary"):
            self.assertEqual(list(lines[name]), analysis.to_pandas()[name].tolist())

    def test_of_rates_norms_entropy_and_heads(self):
        rates = self.client.rate(PLANTED, samples())
        self.assertEqual(len(rates.plot().patches), len(rates.to_pandas()))
        norms = self.client.study("norms", PLANTED, samples())
        drawn = {each.get_label(): list(each.get_ydata()) for each in norms.plot().lines}
        frame = norms.to_pandas().query("measure == 'state'")
        for group in ("primary", "secondary", "rest"):
            self.assertEqual(drawn[group], frame.query("group == @group")["value"].tolist())
        self.assertEqual(len(self.client.study("entropy", PLANTED, samples()).plot().lines), 2)
        with self.assertRaisesRegex(ValueError, "massive has no picture"):
            self.client.study("massive", PLANTED, samples()).plot()
        analysis = self.client.scores(PLANTED, TEXT, all_positions=True).read()
        image = analysis.records[0].plot(position=7).images[0].get_array()
        frame = analysis.to_pandas("heads").query("position == 7")
        self.assertEqual(image.tolist(), frame.pivot(index="block", columns="head", values="alpha").values.tolist())


if __name__ == "__main__":
    main()
