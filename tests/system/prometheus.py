"""
prometheus.py - a strict reader of Prometheus' text format, version 0.0.4.

What Prometheus itself lets pass, and what its `promtool check metrics` complains of, is an error here.
"""
import re

TYPE = "text/plain; version=0.0.4; charset=utf-8"
NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|(?=\}))')
VALUE = re.compile(r"[0-9]+(\.[0-9]+)?\Z")
UNESCAPED = {'\\"': '"', "\\\\": "\\", "\\n": "\n"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count")}


class Metrics:
    """All values of an answer: metrics["name", ("label", "value"), ...], labels in the order of their names."""

    def __init__(self, text):
        self.values, self.types, self.helps = {}, {}, {}
        self.finished, self.current = set(), None
        if not text.endswith("\n"):
            raise ValueError("the last line has no end")
        for line in text.split("\n")[:-1]:
            self.read_line(line)
        for name in self.types:
            self.check_metric(name)

    def __getitem__(self, key):
        name, *labels = key if isinstance(key, tuple) else (key,)
        return self.values[(name, *sorted(labels))]

    def get(self, name, **labels):
        """The value, 0 where there is none."""
        return self.values.get((name, *sorted(labels.items())), 0)

    def labels(self, name, label):
        """All values of one label."""
        return {dict(labels)[label] for series, *labels in self.values if series == name}

    # ---- reading ----

    def read_line(self, line):
        if line.startswith("# HELP "):
            name, text = line[len("# HELP "):].split(" ", 1)
            self.begin(name)
            self.helps[name] = text
        elif line.startswith("# TYPE "):
            name, kind = line[len("# TYPE "):].split(" ")
            if name != self.current or name in self.types:
                raise ValueError(f"TYPE has to follow HELP, once: {line}")
            self.types[name] = kind
        else:
            self.read_value(line)

    def begin(self, name):
        """Of a metric all values are together."""
        if not NAME.fullmatch(name) or name in self.finished:
            raise ValueError(f"a wrong name, or not the first time: {name}")
        self.finished.add(name)
        self.current = name

    def read_value(self, line):
        name = NAME.match(line)
        if not name:
            raise ValueError(f"no name: {line}")
        labels, rest = self.read_labels(line[name.end():])
        if not rest.startswith(" ") or not VALUE.match(rest[1:]):
            raise ValueError(f"no value: {line}")
        key = (name.group(), *sorted(labels))
        if key in self.values or len(dict(labels)) != len(labels):
            raise ValueError(f"twice: {line}")
        if self.metric_of(name.group()) != self.current:
            raise ValueError(f"not of {self.current}: {line}")
        self.values[key] = float(rest[1:]) if "." in rest else int(rest[1:])

    def read_labels(self, text):
        labels = []
        if not text.startswith("{"):
            return labels, text
        at = 1
        while text[at] != "}":
            label = LABEL.match(text, at)
            if not label:
                raise ValueError(f"no label: {text[at:]}")
            labels.append((label.group(1), re.sub(r"\\.", lambda word: UNESCAPED[word.group()], label.group(2))))
            at = label.end()
        return labels, text[at + 1:]

    def metric_of(self, series):
        for suffix in SUFFIXES.get(self.types.get(self.current), ()):
            if series == self.current + suffix:
                return self.current
        return series

    # ---- what promtool complains of ----

    def check_metric(self, name):
        kind = self.types[name]
        if not self.helps.get(name):
            raise ValueError(f"{name} has no help")
        if kind not in ("counter", "gauge", "histogram"):
            raise ValueError(f"{name} is a {kind}")
        if (kind == "counter") != name.endswith("_total"):
            raise ValueError(f"{name} is a {kind}")
        if kind == "histogram":
            self.check_histogram(name)

    def check_histogram(self, name):
        """Buckets grow, the last one has all."""
        series = {}
        for (each, *labels), value in self.values.items():
            if each == name + "_bucket":
                bound = dict(labels)["le"]
                others = tuple(pair for pair in labels if pair[0] != "le")
                series.setdefault(others, []).append((float(bound.replace("+Inf", "inf")), value))
        for labels, buckets in series.items():
            if buckets != sorted(buckets) or [value for _, value in buckets] != sorted(value for _, value in buckets):
                raise ValueError(f"{name} {labels}: buckets do not grow")
            if buckets[-1] != (float("inf"), self.values[(name + "_count", *labels)]):
                raise ValueError(f"{name} {labels}: the last bucket has not all")
            if (name + "_sum", *labels) not in self.values:
                raise ValueError(f"{name} {labels}: no sum")
