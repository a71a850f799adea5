"""`kestrel-bench` run by tests, as short as it can be."""

from __future__ import annotations

import json

from kestrel_engine.bench.cli import main

SHORT = ("--quant", "q8", "--threads", "1", "--repeat", "1")


def bench(capsys, command: str, folder, *argv: str) -> tuple[int, dict]:
    status = main([command, str(folder), "--output", "json", *argv])
    captured = capsys.readouterr()
    assert captured.err == "" and captured.out.count("\n") == 1
    report = json.loads(captured.out)
    assert report["schema"] == 1 and report["command"] == command
    assert {"cpu", "cores", "threads", "gpu"} <= report["machine"].keys()
    assert {"model", "format"} <= report.keys()
    return status, report
