"""Checkpoints in S3 as moto serves it, and in a hub that follows the documents of the Hugging Face hub: what the program writes is
read back by s3fs and safetensors, and huggingface_hub and the program read the same bytes from the same hub.

    python remote.py PROGRAM        PROGRAM is built with the feature `remote`
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import numpy as np
import s3fs
from moto.server import ThreadedMotoServer
from safetensors.numpy import load, save

PROGRAM = sys.argv[1]
COMMIT = "c0ffee" * 6 + "c0ff"
REPO = "owner/name"


def run(*words, code=0):
    ran = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    said = ran.stdout + ran.stderr
    assert ran.returncode == code, f"{words}: {ran.returncode}: {said}"
    assert "very-secret" not in said, said
    return ran.stdout


def weights(seed):
    dice = np.random.default_rng(seed)
    tensors = {f"layer.{n}.w": dice.standard_normal((1024, 1000), np.float32) for n in range(6)}
    return tensors | {f"layer.{n}.b": dice.standard_normal(1000, np.float32) for n in range(6)}


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def store():
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    os.environ |= {
        "AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "very-secret", "AWS_REGION": "us-east-1"
    }
    files = s3fs.S3FileSystem(key="test", secret="very-secret", endpoint_url=url, use_listings_cache=False)
    files.mkdir("bucket")
    return server, files


def single(files, folder):
    own = weights(1)
    files.pipe("bucket/in/a.safetensors", save(own, {"format": "pt"}))
    assert "layer.0.w" in run("info", "s3://bucket/in/a.safetensors")
    run("convert", "s3://bucket/in/a.safetensors", "s3://bucket/there/a.safetensors", "--rule", "*.w=zN")
    run("verify", "s3://bucket/there/a.safetensors", "--against", "s3://bucket/in/a.safetensors", "--rule", "*.w=zN")
    run("verify", "s3://bucket/there/a.safetensors")
    stored = load(files.cat("bucket/there/a.safetensors"))
    assert stored["layer.0.w"].ndim == 4 and np.array_equal(stored["layer.0.b"], own["layer.0.b"])
    run("convert", "s3://bucket/there/a.safetensors", "s3://bucket/back/a.safetensors", "--to", "row-major")
    assert same(load(files.cat("bucket/back/a.safetensors")), own)
    assert run("same-data", "s3://bucket/back/a.safetensors", "s3://bucket/there/a.safetensors").startswith("same")
    local = folder / "local.safetensors"
    run("convert", "s3://bucket/there/a.safetensors", str(local), "--to", "row-major", "--verify")
    assert local.read_bytes() == files.cat("bucket/back/a.safetensors")
    print("one file: 2 conversions and 2 verifications in the store, read back by s3fs and safetensors")


def shards(files):
    two, index = [weights(2), {f"more.{name}": array for name, array in weights(3).items()}], {}
    for number, own in enumerate(two, 1):
        name = f"model-0000{number}-of-00002.safetensors"
        files.pipe(f"bucket/set/{name}", save(own, {"format": "pt"}))
        index |= dict.fromkeys(own, name)
    files.pipe("bucket/set/model.safetensors.index.json", json.dumps({"metadata": {}, "weight_map": index}).encode())
    files.pipe("bucket/set/config.json", b"{}")
    run("convert", "s3://bucket/set", "s3://bucket/zn", "--rule", "*.w=zN")
    run("convert", "s3://bucket/zn", "s3://bucket/rows", "--to", "row-major")
    map_ = json.loads(files.cat("bucket/rows/model.safetensors.index.json"))["weight_map"]
    read = {}
    for name in set(map_.values()):
        read |= load(files.cat(f"bucket/rows/{name}"))
    assert same(read, two[0] | two[1]) and files.cat("bucket/rows/config.json") == b"{}"
    assert run("same-data", "s3://bucket/set", "s3://bucket/zn").startswith("same")
    run("convert", "s3://bucket/set", "s3://bucket/zn", "--rule", "*.w=zN", code=2)
    listed = files.call_s3("list_multipart_uploads", Bucket="bucket")
    assert not listed.get("Uploads"), listed
    print("a set of two shards: there and back, read back by its index; no upload is left")


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files = {}

    def log_message(self, *_):
        pass

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def content(self, body, **headers):
        given = self.headers.get("Range")
        if not given:
            return self.answer(200, body, Accept_Ranges="bytes", **headers)
        first, _, last = given.removeprefix("bytes=").partition("-")
        part = body[int(first) : int(last) + 1 if last else None]
        span = f"bytes {first}-{int(first) + len(part) - 1}/{len(body)}"
        self.answer(206, part, Content_Range=span, **headers)

    def do_GET(self):
        path = self.path.partition("?")[0].strip("/")
        if path.startswith("storage/"):
            assert "Authorization" not in self.headers or self.headers["Host"] != self.server.storage
            return self.content(self.files[path.removeprefix("storage/")])
        if path.startswith(f"api/models/{REPO}"):
            siblings = [{"rfilename": name, "size": len(body)} for name, body in self.files.items()]
            body = json.dumps({"id": REPO, "sha": COMMIT, "siblings": siblings}).encode()
            return self.answer(200, body, Content_Type="application/json")
        name = path.removeprefix(f"{REPO}/resolve/").partition("/")[2]
        body, tag = self.files.get(name), f'"{name}-1"'
        if body is None:
            return self.answer(404, X_Error_Code="EntryNotFound", X_Repo_Commit=COMMIT)
        if name.endswith(".json"):
            return self.content(body, X_Repo_Commit=COMMIT, ETag=tag)
        self.answer(302, Location=f"http://{self.server.storage}/storage/{name}?sig=very-secret", X_Repo_Commit=COMMIT, X_Linked_Etag=tag, X_Linked_Size=str(len(body)))

    do_HEAD = do_GET


def hub(files, folder):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.storage = f"localhost:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_TOKEN": "hf_very-secret", "HF_HOME": str(folder / "hf")}
    own = weights(4)
    Hub.files = {"model.safetensors": save(own, {"format": "pt"}), "config.json": b"{}"}
    # Read after the endpoint is set.
    import huggingface_hub

    down = pathlib.Path(huggingface_hub.hf_hub_download(REPO, "model.safetensors"))
    run("convert", f"hf://{REPO}", "s3://bucket/hub", "--rule", "*.w=zN")
    run("convert", "s3://bucket/hub/model.safetensors", "s3://bucket/hub-rows.safetensors", "--to", "row-major")
    assert same(load(files.cat("bucket/hub-rows.safetensors")), load(down.read_bytes()))
    assert run("same-data", f"hf://{REPO}@{COMMIT}/model.safetensors", str(down)).startswith("same")
    print(f"a hub, read by huggingface_hub {huggingface_hub.__version__} and by the program into the store")
    server.shutdown()


def main():
    server, files = store()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        single(files, folder)
        shards(files)
        hub(files, folder)
    server.stop()


main()
