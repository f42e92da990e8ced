"""A model in service: latency, size, loading, threads, and the answers over HTTP.

Vectors are the digits of scikit-learn, by a Gaussian kernel; series are two kinds of waves of 30
to 59 values, by dynamic time warping. Rows say which figure stands under "ratio". Models have one
thread.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import perf_counter
from typing import Any

import joblib
import numpy as np
import skops.io
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.landmarks import BBSClassifier, SimilarityKNNClassifier

_CALLS, _THREADS, _BATCH = 1000, 8, 500


def service(model: Any) -> type[BaseHTTPRequestHandler]:
    """Return a handler of requests: a list of points in JSON, answered by a list of classes."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # an answer is not held back for 40 ms

        def do_POST(self) -> None:
            points = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(model.predict(points).tolist()).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def answers_over_http(model: Any, points: list[Any]) -> tuple[list[Any], list[float]]:
    """Send each point by one of 8 threads; return the answers and the seconds of each."""
    server = ThreadingHTTPServer(("localhost", 0), service(model))
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()

    def ask(some: list[Any]) -> list[tuple[Any, float]]:
        connection, results = HTTPConnection("localhost", server.server_address[1]), []
        for point in some:
            start = perf_counter()
            connection.request("POST", "/", json.dumps([point]).encode())
            (answer,) = json.loads(connection.getresponse().read())
            results.append((answer, perf_counter() - start))
        connection.close()
        return results

    with ThreadPoolExecutor(_THREADS) as pool:
        of_threads = list(pool.map(ask, [points[i::_THREADS] for i in range(_THREADS)]))
    server.shutdown()
    server.server_close()
    results = [of_threads[i % _THREADS][i // _THREADS] for i in range(len(points))]
    return [answer for answer, _ in results], [seconds for _, seconds in results]


def waves(n: int) -> tuple[list[list[float]], np.ndarray]:
    """Draw series of two kinds, of 30 to 59 values."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n)
    times = [np.linspace(0, 4 * np.pi * rng.uniform(0.7, 1.3), rng.integers(30, 60)) for _ in y]
    pairs = zip(times, y, strict=True)
    return [
        (np.sin(t) + k * np.sin(2 * t) / 2 + rng.normal(0, 0.3, len(t))).tolist() for t, k in pairs
    ], y


def _latency(model: Any, points: Any) -> tuple[float, float]:
    """Return the median and the 95th percentile of the seconds of single predictions."""
    model.predict(points[:1])
    times = [once(lambda i=i: model.predict(points[i : i + 1])) for i in range(len(points))]
    return float(np.median(times)), float(np.percentile(times, 95))


def _stored(model: Any) -> Iterator[tuple[str, int, float]]:
    """Yield formats with the bytes of a model and the seconds that loading it takes."""
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    written = skops.io.dumps(model)
    types = skops.io.get_untrusted_types(data=written)
    loads: dict[str, tuple[bytes, Callable[[], object]]] = {
        "joblib": (buffer.getvalue(), lambda: joblib.load(io.BytesIO(buffer.getvalue()))),
        "skops": (written, lambda: skops.io.loads(written, trusted=types)),
    }
    for name, (content, load) in loads.items():
        yield name, len(content), least_seconds(load)


def run() -> list[Row]:
    """Measure models of vectors and of series; only the equality of answers has a target."""
    digits, y = load_digits(return_X_y=True)
    series, kinds = waves(800)
    cases: list[tuple[str, Any, Any, Any]] = [
        ("digits, 50 landmarks", BBSClassifier(50, random_state=0), digits, y),
        (
            "waves, 30 landmarks",
            BBSClassifier(30, similarity="aeon.dtw", random_state=0),
            series,
            kinds,
        ),
        ("waves, 1-NN", SimilarityKNNClassifier(1, similarity="aeon.dtw"), series, kinds),
    ]
    rows = []
    for name, model, points, labels in cases:
        with threadpool_limits(1):
            model.fit(points[:300], labels[:300])
            test = points[300 : 300 + _BATCH]
            middle, slow = _latency(model, test)
            batch = least_seconds(lambda m=model, t=test: m.predict(t)) / _BATCH
            rows += [
                Row(f"{name}: one point, ms, p50", middle, 1e3 * middle),
                Row(f"{name}: one point, ms, p95", slow, 1e3 * slow),
                Row(f"{name}: each of {_BATCH} at once, ms", batch, 1e3 * batch),
            ]
            rows += [
                Row(f"{name}: loaded by {form}; kB", seconds, size / 1e3)
                for form, size, seconds in _stored(model)
            ]
            asked = [np.asarray(point).tolist() for point in points[300:]]
            asked = [asked[i % len(asked)] for i in range(_CALLS)]
            start = perf_counter()
            answers, times = answers_over_http(model, asked)
            total, expected = perf_counter() - start, model.predict(asked).tolist()
        equal = float(np.mean([a == b for a, b in zip(answers, expected, strict=True)]))
        what, ms = f"{name}: {_CALLS} requests from {_THREADS} threads", np.array(times) * 1e3
        rows += [
            Row(f"{what}, share equal to the batch's", total, equal, at_least=1.0),
            Row(f"{what}, ms, p50", total, float(np.median(ms))),
            Row(f"{what}, ms, p95", total, float(np.percentile(ms, 95))),
        ]
    return rows
