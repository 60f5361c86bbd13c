"""Checkpoints at URLs: a server of this machine that answers ranges."""

import http.server
import pathlib
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import tilewright as tw


class Ranges(http.server.BaseHTTPRequestHandler):
    """Answers requests of ranges with parts of the bytes of its server."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        body: bytes | None = self.server.files.get(self.path)  # type: ignore[attr-defined]
        if body is None:
            return self.send_error(404)
        first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        part = body[int(first) : int(last) + 1]
        self.send_response(206)
        self.send_header("ETag", '"1"')
        self.send_header("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
    server.files = {}  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_urls_are_opened_as_files_are(server: http.server.ThreadingHTTPServer, tmp_path: pathlib.Path) -> None:
    array = np.arange(300 * 500, dtype=np.float32).reshape(300, 500)
    path = tmp_path / "a.safetensors"
    tw.save({"w": array, "b": array[0]}, path, to="zN", rules={"b": "row-major"})
    server.files["/m/a.safetensors"] = path.read_bytes()  # type: ignore[attr-defined]
    url = f"http://127.0.0.1:{server.server_port}/m/a.safetensors"
    try:
        opened = tw.open(url)
    except tw.Error as error:
        if "built" in str(error) or "build" in str(error):
            pytest.skip("built without stores and hubs")
        raise
    with opened as m:
        assert np.array_equal(m["w"], array) and m.layout("w").spec == "f32[300,500] zN"
    out = tmp_path / "out.safetensors"
    tw.convert(url, out, to="row-major")
    with tw.open(out) as m:
        assert np.array_equal(m["w"], array)
    with pytest.raises(OSError, match="no such object"):
        tw.open(f"http://127.0.0.1:{server.server_port}/none.npy")
