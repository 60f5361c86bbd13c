"""Checkpoints in S3 as moto serves it, in Azure's blob store as azurite serves it, and in a hub that follows the documents of the
Hugging Face hub. What the program writes is read back by s3fs, azure-storage-blob, safetensors and Run:ai's model streamer, and
huggingface_hub and the program read the same bytes from the same hub. Then a proxy before each store plants each fault at each
request of a conversion and of a resharding.

    python remote.py PROGRAM [AZURITE]        PROGRAM is built with the feature `remote`; AZURITE is the folder of its npm package

FAULTS=all plants every fault at every request; otherwise a part of them, which takes about a minute.
"""

import http.client
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import s3fs
from moto.server import ThreadedMotoServer
from safetensors.numpy import load, save

PROGRAM = sys.argv[1]
AZURITE = sys.argv[2] if len(sys.argv) > 2 else None
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


def reshard(files, folder):
    """Whole tensors into shards of a mesh and back, by two processes, all in the store."""
    rules = ["--mesh", "tp=2", "--rule", "*.w=[Shard(1)]", "--rule", "*=[Replicate()]"]
    run("reshard", "s3://bucket/set", "s3://bucket/tp2", *rules, "--verify")
    run("reshard", "s3://bucket/tp2", "s3://bucket/whole", "--as", "hf", "--max-shard-size", "20MB")
    index = json.loads(files.cat("bucket/whole/model.safetensors.index.json"))["weight_map"]
    back = {}
    for name in set(index.values()):
        back |= load(files.cat(f"bucket/whole/{name}"))
    want = load(files.cat("bucket/set/model-00001-of-00002.safetensors"))
    want |= load(files.cat("bucket/set/model-00002-of-00002.safetensors"))
    assert same(back, want)
    plan = str(folder / "plan")
    run("reshard", "plan", "s3://bucket/set", "s3://bucket/shared", *rules, "-o", plan)
    for rank in "01":
        run("reshard", "run", plan, "--rank", rank, "--world", "2")
    assert not files.exists("bucket/shared/rank_00000-of-00002.safetensors")
    run("reshard", "finish", plan)
    for rank in range(2):
        name = f"rank_{rank:05}-of-00002.safetensors"
        assert files.cat(f"bucket/shared/{name}") == files.cat(f"bucket/tp2/{name}")
    listed = files.call_s3("list_multipart_uploads", Bucket="bucket")
    assert not listed.get("Uploads"), listed
    print("resharding in the store: two ways to shards of a mesh with equal bytes, and back; read back by its index")


def streamed(files):
    try:
        from runai_model_streamer import SafetensorsStreamer
    except ImportError as error:
        print(f"Run:ai's model streamer does not load here: {error}")
        return
    os.environ |= {
        "RUNAI_STREAMER_S3_ENDPOINT": os.environ["AWS_ENDPOINT_URL"], "AWS_EC2_METADATA_DISABLED": "true",
        "RUNAI_STREAMER_S3_USE_VIRTUAL_ADDRESSING": "0",
    }
    want, got = load(files.cat("bucket/there/a.safetensors")), {}
    with SafetensorsStreamer() as streamer:
        streamer.stream_file("s3://bucket/there/a.safetensors")
        for name, tensor in streamer.get_tensors():
            got[name] = tensor.clone().numpy()
    assert same(got, want)
    print("Run:ai's model streamer reads a result from the store")


ACCOUNT, KEY = "devstoreaccount1", "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def azure(folder):
    """Starts azurite with a container and a checkpoint in it."""
    from azure.storage.blob import BlobServiceClient

    port = free_port()
    script = next(pathlib.Path(AZURITE).glob("**/azurite/dist/src/blob/main.js"))
    words = ["node", str(script), "--blobHost", "127.0.0.1", "--blobPort", str(port), "--silent", "--skipApiVersionCheck"]
    server = subprocess.Popen([*words, "--location", str(folder / "azurite")], stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/{ACCOUNT}"
    for _ in range(300):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    os.environ |= {"AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT, "AZURE_STORAGE_ACCOUNT_KEY": KEY, "AZURE_STORAGE_ENDPOINT": url}
    client = BlobServiceClient(url, credential=KEY)
    box = client.create_container("box")
    own = weights(5)
    box.upload_blob("in/model.safetensors", save(own, {"format": "pt"}))
    run("convert", "az://box/in/model.safetensors", "az://box/zn.safetensors", "--rule", "*.w=zN", "--verify")
    run("convert", "az://box/zn.safetensors", "az://box/back.safetensors", "--to", "row-major")
    assert same(load(box.download_blob("back.safetensors").readall()), own)
    run("reshard", "az://box/in", "az://box/tp2", "--mesh", "tp=2", "--rule", "*.w=[Shard(0)]", "--rule", "*=[Replicate()]")
    assert run("same-data", "az://box/tp2", "az://box/in/model.safetensors").startswith("same")
    print("azurite: a conversion there and back, and shards, read back by azure-storage-blob")
    return server, port, box


class Proxy(http.server.BaseHTTPRequestHandler):
    """Passes requests on, except that it plants a fault in the request of a number."""

    protocol_version = "HTTP/1.1"
    port, number, fault, seen, met = 0, None, None, 0, 0
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def answer(self):
        cls = Proxy
        with cls.lock:
            here, cls.seen = cls.seen == cls.number, cls.seen + 1
            cls.met += here
        fault = cls.fault if here else None
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if fault == "reset":
            return self.cut()
        if isinstance(fault, int):
            return self.reply(fault, [], b"<Error><Code>SlowDown</Code></Error>")
        upstream = http.client.HTTPConnection("127.0.0.1", cls.port)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            upstream.putheader(name, value)
        upstream.endheaders(body)
        came = upstream.getresponse()
        content = came.read()
        if fault == "lost":
            return self.cut()
        self.reply(came.status, came.getheaders(), content, fault == "short")

    def cut(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def reply(self, status, headers, content, short=False):
        self.send_response_only(status)
        length = None
        for name, value in headers:
            if name.lower() == "content-length":
                length = value
            elif name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if short else content)
        if short:
            self.wfile.flush()
            self.cut()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = answer


def faulted(what, words, clear, seen, whole):
    """Runs a command with each fault at each request: afterwards all objects are there, or none, or the message names them."""
    def ran():
        clear()
        Proxy.seen = 0
        return subprocess.run([PROGRAM, *words, "--retries", "3"], capture_output=True, text=True)

    Proxy.number = None
    first = ran()
    assert first.returncode == 0, first.stderr
    requests, before, failed = Proxy.seen, Proxy.met, 0
    step = 1 if os.environ.get("FAULTS") == "all" else max(1, requests // 4)
    for fault in (503, 403, "reset", "lost", "short"):
        for number in range(0, requests, step):
            Proxy.number, Proxy.fault = number, fault
            run = ran()
            Proxy.number = None
            said, left = run.stdout + run.stderr, seen()
            note = f"{what} {fault} at {number} of {requests}: {run.returncode} {said} {left}"
            assert "very-secret" not in said and KEY not in said, note
            failed += run.returncode != 0
            assert left == whole if run.returncode == 0 else all(name in said for name in left), note
    print(f"{what}: {Proxy.met - before} faults at {requests} requests, {failed} runs failed, nothing half visible")


def faults(files, box, ports):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    own = {"a.w": weights(6)["layer.0.w"], "a.b": weights(6)["layer.0.b"]}
    data, names = save(own, {"format": "pt"}), ["f/a.safetensors"]
    files.pipe("bucket/small.safetensors", data)
    os.environ["AWS_ENDPOINT_URL"], Proxy.port = url, ports[0]

    def clear():
        if files.exists("bucket/f"):
            files.rm("bucket/f", recursive=True)

    def seen():
        return sorted(name.removeprefix("bucket/") for name in files.find("bucket/f"))

    words = ["convert", "s3://bucket/small.safetensors", "s3://bucket/f/a.safetensors", "--rule", "*.w=zN", "--verify"]
    faulted("moto, a conversion", words, clear, seen, names)
    if box:
        box.upload_blob("small.safetensors", data, overwrite=True)
        os.environ["AZURE_STORAGE_ENDPOINT"], Proxy.port = f"{url}/{ACCOUNT}", ports[1]

        def clear():
            for name in seen():
                box.delete_blob(name)

        def seen():
            return sorted(box.list_blob_names(name_starts_with="f/"))

        words = ["convert", "az://box/small.safetensors", "az://box/f/a.safetensors", "--rule", "*.w=zN"]
        faulted("azurite, a conversion", words, clear, seen, names)
    server.shutdown()


def main():
    server, files = store()
    with tempfile.TemporaryDirectory() as name:
        folder, blobs, box, ports = pathlib.Path(name), None, None, [server.get_host_and_port()[1], 0]
        try:
            single(files, folder)
            shards(files)
            reshard(files, folder)
            hub(files, folder)
            streamed(files)
            if AZURITE:
                blobs, ports[1], box = azure(folder)
            else:
                print("azurite is not installed: Azure's store is not tested")
            faults(files, box, ports)
        finally:
            if blobs:
                blobs.terminate()
                blobs.wait()
    server.stop()


main()
