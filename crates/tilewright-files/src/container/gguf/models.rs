//! The architectures whose tensors are known by name: the tensors that every block has, and the optional ones. Comparisons of
//! metadata with tensors use them.
//!
//! A reader of a GGUF file creates the tensors that the architecture has, and refuses a file that lacks one or holds another. So
//! the names of the tensors show whether they belong to the architecture that the metadata name.
//!
//! Source: llama.cpp, `src/llama-model.cpp`; `gguf-py/gguf/constants.py`, `MODEL_TENSORS`.

/// An architecture.
pub(super) struct Model {
    pub(super) name: &'static str,
    /// The tensors of every block, without `blk.N.`; `a|b` means one of the two.
    needs: &'static [&'static str],
    /// Optional tensors of a block or of the model, without `.weight` and `.bias`.
    may: &'static [&'static str],
    /// Two tensors that a block has both or neither of.
    together: &'static [[&'static str; 2]],
}

/// Optional tensors of every model.
const GLOBAL: [&str; 4] = ["token_embd", "output_norm", "output", "rope_freqs"];

const DENSE: &[&str] = &["ffn_gate", "ffn_up", "ffn_down"];
const EXPERTS: &[&str] = &["ffn_gate_inp", "ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"];
const MIXED: &[&str] = &[
    "ffn_gate",
    "ffn_up",
    "ffn_down",
    "ffn_gate_inp",
    "ffn_gate_exps",
    "ffn_up_exps",
    "ffn_down_exps",
    "ffn_gate_inp_shexp",
    "ffn_gate_shexp",
    "ffn_up_shexp",
    "ffn_down_shexp",
    "exp_probs_b",
    "nextn",
    "attn_q",
    "attn_q_a",
    "attn_q_a_norm",
    "attn_q_b",
    "attn_kv_b",
    "attn_k_b",
    "attn_v_b",
    "attn_q_norm",
    "attn_k_norm",
];

const NORM: &str = "attn_norm.weight";
const NORM2: &str = "ffn_norm.weight";
const Q: &str = "attn_q.weight|attn_qkv.weight";
const K: &str = "attn_k.weight|attn_qkv.weight";
const V: &str = "attn_v.weight|attn_qkv.weight";
const O: &str = "attn_output.weight";
const QKV: &str = "attn_qkv.weight";
const DOWN: &str = "ffn_down.weight";

const MODELS: &[Model] = &[
    Model {
        name: "llama",
        needs: &[NORM, Q, K, V, O, NORM2, "ffn_down.weight|ffn_down_exps.weight|ffn_down.0.weight"],
        may: &[
            "attn_rot_embd",
            "ffn_gate",
            "ffn_up",
            "ffn_gate_inp",
            "ffn_gate_exps",
            "ffn_up_exps",
        ],
        // Biases of only query, key and value are those of Qwen2, which has another rotary order.
        together: &[["attn_q.bias", "attn_output.bias"]],
    },
    Model {
        name: "qwen2",
        needs: &[
            NORM,
            Q,
            K,
            V,
            "attn_q.bias|attn_qkv.bias",
            "attn_k.bias|attn_qkv.bias",
            "attn_v.bias|attn_qkv.bias",
            O,
            NORM2,
            DOWN,
        ],
        may: DENSE,
        together: &[],
    },
    Model {
        name: "qwen3",
        needs: &[NORM, Q, "attn_q_norm.weight", K, "attn_k_norm.weight", V, O, NORM2, DOWN],
        may: DENSE,
        together: &[],
    },
    Model {
        name: "qwen2moe",
        needs: &[
            NORM,
            Q,
            K,
            V,
            O,
            NORM2,
            "ffn_gate_inp.weight",
            "ffn_down_exps.weight",
            "ffn_down_shexp.weight",
        ],
        may: &[
            "ffn_gate_exps",
            "ffn_up_exps",
            "ffn_gate_inp_shexp",
            "ffn_gate_shexp",
            "ffn_up_shexp",
        ],
        together: &[],
    },
    Model {
        name: "qwen3moe",
        needs: &[
            NORM,
            Q,
            "attn_q_norm.weight",
            K,
            "attn_k_norm.weight",
            V,
            O,
            NORM2,
            "ffn_gate_inp.weight",
            "ffn_down_exps.weight",
        ],
        may: EXPERTS,
        together: &[],
    },
    Model { name: "gemma", needs: &[NORM, Q, K, V, O, NORM2, DOWN], may: DENSE, together: &[] },
    Model {
        name: "gemma2",
        needs: &[
            NORM,
            Q,
            K,
            V,
            O,
            "post_attention_norm.weight",
            NORM2,
            DOWN,
            "post_ffw_norm.weight",
        ],
        may: DENSE,
        together: &[],
    },
    Model {
        name: "gemma3",
        needs: &[
            NORM,
            Q,
            "attn_q_norm.weight",
            K,
            "attn_k_norm.weight",
            V,
            O,
            "post_attention_norm.weight",
            NORM2,
            DOWN,
            "post_ffw_norm.weight",
        ],
        may: DENSE,
        together: &[],
    },
    Model {
        name: "phi3",
        needs: &[NORM, Q, K, V, O, NORM2, DOWN, "ffn_up.weight"],
        may: &["rope_factors_long", "rope_factors_short"],
        together: &[],
    },
    Model {
        name: "gptneox",
        needs: &[NORM, "attn_norm.bias", QKV, O, NORM2, DOWN, "ffn_up.weight"],
        may: &[],
        together: &[],
    },
    Model {
        name: "gpt2",
        needs: &[NORM, "attn_norm.bias", QKV, O, NORM2, DOWN, "ffn_up.weight"],
        may: &["position_embd"],
        together: &[],
    },
    Model {
        name: "bloom",
        needs: &[NORM, "attn_norm.bias", QKV, O, NORM2, DOWN, "ffn_up.weight"],
        may: &["token_embd_norm"],
        together: &[],
    },
    Model {
        name: "falcon",
        needs: &[NORM, QKV, O, DOWN, "ffn_up.weight"],
        may: &["attn_norm_2"],
        together: &[],
    },
    Model {
        name: "starcoder2",
        needs: &[NORM, "attn_norm.bias", Q, K, V, O, NORM2, DOWN, "ffn_up.weight"],
        may: &["attn_rot_embd"],
        together: &[],
    },
    Model {
        name: "gpt-oss",
        needs: &[
            NORM,
            "post_attention_norm.weight",
            Q,
            K,
            V,
            O,
            "attn_sinks.weight",
            "ffn_gate_inp.weight",
            "ffn_down_exps.weight",
        ],
        may: EXPERTS,
        together: &[],
    },
    Model {
        name: "deepseek2",
        needs: &[
            NORM,
            "attn_kv_a_mqa.weight",
            "attn_kv_a_norm.weight",
            "attn_kv_b.weight|attn_k_b.weight",
            O,
            NORM2,
            "ffn_down.weight|ffn_down_exps.weight",
        ],
        may: MIXED,
        together: &[],
    },
    Model {
        name: "glm4",
        needs: &[
            NORM,
            Q,
            K,
            V,
            O,
            "post_attention_norm.weight",
            NORM2,
            DOWN,
            "post_ffw_norm.weight",
        ],
        may: &["ffn_up", "nextn"],
        together: &[],
    },
    Model {
        name: "glm4moe",
        needs: &[
            NORM,
            Q,
            K,
            V,
            O,
            "post_attention_norm.weight",
            "ffn_down.weight|ffn_down_exps.weight",
        ],
        may: MIXED,
        together: &[],
    },
];

/// Returns the architecture of this name, if its tensors are known.
pub(super) fn model(name: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| model.name == name)
}

impl Model {
    /// Returns the first tensor that a block lacks; `has` tells which names it has.
    pub(super) fn lacks(&self, has: &dyn Fn(&str) -> bool) -> Option<&'static str> {
        let needed = self.needs.iter().find(|needed| !needed.split('|').any(has));
        let apart = self.together.iter().find(|[one, other]| has(one) && !has(other));
        needed.and_then(|needed| needed.split('|').next()).or(apart.map(|[_, other]| *other))
    }

    /// Returns whether the architecture has a tensor of this name, given without `blk.N.`.
    pub(super) fn knows(&self, name: &str) -> bool {
        let base = name.split('.').next().unwrap_or(name);
        let needs = self.needs.iter().flat_map(|needed| needed.split('|'));
        let mut known = GLOBAL.iter().copied().chain(self.may.iter().copied()).chain(needs);
        known.any(|known| known.split('.').next() == Some(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_architecture_knows_what_it_needs_and_refuses_what_another_has() {
        for (i, one) in MODELS.iter().enumerate() {
            assert!(MODELS[..i].iter().all(|other| other.name != one.name));
            let all: Vec<&str> = one.needs.iter().flat_map(|needed| needed.split('|')).collect();
            assert_eq!(one.lacks(&|name| all.contains(&name)), None);
            for needed in one.needs {
                let without =
                    |name: &str| all.contains(&name) && !needed.split('|').any(|it| it == name);
                assert!(one.lacks(&without).is_some(), "{} without {needed}", one.name);
            }
        }
        for (name, own, other) in [
            ("llama", "attn_q.bias", "attn_q_norm.weight"),
            ("llama", "rope_freqs.weight", "ssm_in.weight"),
            ("qwen2", "ffn_gate.weight", "attn_q_norm.weight"),
            ("qwen3", "attn_k_norm.weight", "attn_sinks.weight"),
            ("qwen2moe", "ffn_gate_inp_shexp.weight", "ffn_down.weight"),
            ("qwen3moe", "ffn_up_exps.weight", "ffn_up_shexp.weight"),
            ("gemma2", "post_ffw_norm.weight", "attn_q_norm.weight"),
            ("gemma3", "attn_q_norm.weight", "ffn_gate_exps.weight"),
            ("gpt2", "position_embd.weight", "ffn_gate.weight"),
            ("bloom", "token_embd_norm.weight", "position_embd.weight"),
            ("falcon", "attn_norm_2.weight", "ffn_norm.weight"),
            ("gpt-oss", "attn_sinks.weight", "ffn_down.weight"),
            ("deepseek2", "attn_kv_a_mqa.weight", "attn_sinks.weight"),
            ("glm4", "post_attention_norm.weight", "ffn_gate.weight"),
            ("glm4moe", "nextn.eh_proj.weight", "attn_sinks.weight"),
        ] {
            let model = model(name).unwrap();
            assert!(model.knows(own) && !model.knows(other), "{name} {own} {other}");
        }
    }
}
