"""Where the model's own code cuts a fused tensor: rows are numbered, and the number of each row of query, key and value is read."""

import torch
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS


class Seen(Exception):
    pass


def seen(module, query, key, value, *_, **__):
    raise Seen(query, key, value)


ALL_ATTENTION_FUNCTIONS.register("seen", seen)


class Rows(torch.nn.Module):
    """A layer whose results are the numbers of its rows."""

    def __init__(self, rows):
        super().__init__()
        self.rows = torch.arange(rows, dtype=torch.float32)

    def forward(self, hidden):
        return self.rows.expand(*hidden.shape[:-1], -1)


def fused(model, layer, name):
    """The rows of query, key and value: attention of the layer `name` runs with numbers of rows, at position 0."""
    attention, size = layer
    module = getattr(attention, name)
    rows = module.weight.shape[1 if type(module).__name__ == "Conv1D" else 0]
    hidden = torch.zeros(1, 1, size)
    setattr(attention, name, Rows(rows))
    model.config._attn_implementation = attention.config._attn_implementation = "seen"
    turn = torch.ones(1, 1, model.config.hidden_size // model.config.num_attention_heads)
    try:
        attention(hidden, position_embeddings=(turn, torch.zeros_like(turn)), attention_mask=None)
    except Seen as found:
        return [one.reshape(-1).long() for one in found.args]
    finally:
        setattr(attention, name, module)
    raise AssertionError("the attention function was not called")


def gpt_neox(model):
    return fused(model, (model.gpt_neox.layers[0].attention, model.config.hidden_size), "query_key_value")


def phi3(model):
    return fused(model, (model.model.layers[0].self_attn, model.config.hidden_size), "qkv_proj")


def gpt2(model):
    return fused(model, (model.transformer.h[0].attn, model.config.hidden_size), "c_attn")


def bloom(model):
    attention = model.transformer.h[0].self_attention
    rows = torch.arange(attention.query_key_value.weight.shape[0])[None, None]
    return [one.reshape(-1) for one in attention._reshape(rows)]


def falcon(model):
    attention = model.transformer.h[0].self_attention
    rows = torch.arange(attention.query_key_value.weight.shape[0])[None, None]
    # Keys and values are repeated for the heads of their group.
    return [torch.tensor(list(dict.fromkeys(one.reshape(-1).tolist()))) for one in attention._split_heads(rows)]
