//! Finds the tensors in a pickle of torch: views of storages, under names.

use tilewright_core::MAX_MODES;

use super::pickle::{Id, Pickle, PickleValue};

/// The deepest nesting of dicts, lists and tuples that is searched.
const DEEPEST: usize = 32;

/// The largest number of values that are looked at: parts that occur several times count each time.
const MOST: usize = 1 << 20;

/// The largest number of tensors, as parts that occur several times are several.
const MOST_TENSORS: usize = 1 << 18;

/// The longest name, and the largest sum of the lengths of all names, in bytes.
const LONGEST_NAME: usize = 4096;
const LONGEST_NAMES: usize = 1 << 27;

/// The largest number of arguments of a call that makes a tensor; torch gives at most eight.
const MOST_ARGUMENTS: usize = 16;

/// The classes of storages and the types of their elements, as torch names them.
const STORAGES: [(&str, &str); 12] = [
    ("DoubleStorage", "float64"),
    ("FloatStorage", "float32"),
    ("HalfStorage", "float16"),
    ("BFloat16Storage", "bfloat16"),
    ("LongStorage", "int64"),
    ("IntStorage", "int32"),
    ("ShortStorage", "int16"),
    ("CharStorage", "int8"),
    ("ByteStorage", "uint8"),
    ("BoolStorage", "bool"),
    ("ComplexFloatStorage", "complex64"),
    ("ComplexDoubleStorage", "complex128"),
];

/// The types that tensors name themselves, where their storage is only bytes.
const TYPES: [&str; 8] = [
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "uint16",
    "uint32",
    "uint64",
];

/// A tensor as a view of a storage.
#[derive(Debug)]
pub(super) struct View {
    /// The number of the storage, as the archive spells it.
    pub(super) storage: String,
    pub(super) dtype: &'static str,
    /// The element of the storage where the tensor begins.
    pub(super) offset: u64,
    pub(super) extents: Vec<u64>,
    pub(super) strides: Vec<i64>,
}

/// The tensors of a checkpoint with their names, and the names of other values.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) views: Vec<(String, View)>,
    pub(super) others: Vec<String>,
}

impl State {
    /// Finds all tensors.
    ///
    /// # Errors
    /// A tensor of a kind that is not a view of a storage (sparse, quantised), and a checkpoint without tensors.
    pub(super) fn of(pickle: &Pickle) -> Result<State, String> {
        let mut state = State::default();
        let (mut waiting, mut seen, mut letters) = (vec![(String::new(), pickle.root(), 0)], 0, 0);
        while let Some((name, id, depth)) = waiting.pop() {
            seen += pickle.count(id);
            if seen > MOST || state.views.len() > MOST_TENSORS {
                return Err(format!(
                    "the checkpoint has more than {MOST} values, or more than {MOST_TENSORS} tensors"
                ));
            }
            let parts = parts(pickle, &name, id, &mut letters)?;
            if let Some(view) =
                view(pickle, id, 0).map_err(|said| format!("tensor {name:?}: {said}"))?
            {
                let alone = name.is_empty() && depth == 0;
                state.views.push((if alone { "tensor".into() } else { name }, view));
            } else if parts.is_empty() && !is_container(pickle, id) {
                state.others.push(other(pickle, &name, id));
            } else if depth == DEEPEST {
                return Err(format!("{name:?} is nested deeper than {DEEPEST} dicts and lists"));
            } else {
                waiting.extend(parts.into_iter().rev().map(|(name, id)| (name, id, depth + 1)));
            }
        }
        match state.views.is_empty() {
            true => Err("it holds no tensors in dicts and lists; save the state: torch.save(model.state_dict(), FILE)".into()),
            false => Ok(state),
        }
    }
}

fn is_container(pickle: &Pickle, id: Id) -> bool {
    matches!(pickle.get(id), PickleValue::Dict(_) | PickleValue::List(_) | PickleValue::Tuple(_))
}

/// Returns how a message shows a value that is not a tensor: by its name, and an object by its class too.
fn other(pickle: &Pickle, name: &str, id: Id) -> String {
    match *pickle.get(id) {
        PickleValue::Call(class, _) => {
            let class = pickle.global(class).map_or("?", |(_, class)| class);
            format!("{name:?}, an object of class {class:?}")
        }
        _ => format!("{name:?}"),
    }
}

/// Returns the parts of a dict, list or tuple with their names, whose lengths are added to `letters`.
fn parts(
    pickle: &Pickle,
    name: &str,
    id: Id,
    letters: &mut usize,
) -> Result<Vec<(String, Id)>, String> {
    let mut inner = |key: &str| {
        let len = name.len() + key.len() + 1;
        *letters += len;
        match (name, len > LONGEST_NAME || *letters > LONGEST_NAMES) {
            (_, true) => Err(format!(
                "a name of more than {LONGEST_NAME} bytes, or names of more than {LONGEST_NAMES} in all"
            )),
            ("", _) => Ok(key.to_owned()),
            _ => Ok(format!("{name}.{key}")),
        }
    };
    match pickle.get(id) {
        PickleValue::Dict(pairs) => {
            let named = pairs.iter().enumerate().map(|(at, (key, value))| {
                let name = match pickle.get(*key) {
                    PickleValue::Text(text) => inner(text),
                    PickleValue::Int(number) => inner(&number.to_string()),
                    _ => inner(&format!("?{at}")),
                };
                Ok((name?, *value))
            });
            named.collect()
        }
        PickleValue::List(items) | PickleValue::Tuple(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| Ok((inner(&at.to_string())?, *item)))
            .collect(),
        _ => Ok(Vec::new()),
    }
}

/// Returns the tensor that a call makes; `None` for another value.
fn view(pickle: &Pickle, id: Id, depth: usize) -> Result<Option<View>, String> {
    match *pickle.get(id) {
        _ if depth > DEEPEST => Err(format!("made by more than {DEEPEST} calls")),
        PickleValue::Call(function, arguments) => made(pickle, (function, arguments), depth),
        _ => Ok(None),
    }
}

/// Returns the tensor that this function makes of these arguments; `None` if it makes something else.
fn made(
    pickle: &Pickle,
    (function, arguments): (Id, Id),
    depth: usize,
) -> Result<Option<View>, String> {
    let parts = pickle.tuple(arguments);
    match (pickle.global(function), parts) {
        (
            Some(("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state")),
            [tensor, ..],
        ) => view(pickle, *tensor, depth + 1),
        (
            Some(("torch._utils", "_rebuild_tensor" | "_rebuild_tensor_v2" | "_rebuild_tensor_v3")),
            _,
        ) => rebuilt(pickle, parts).map(Some),
        // A subclass names the function that makes the tensor, and its arguments.
        (
            Some((
                "torch._tensor" | "torch.tensor",
                "_rebuild_from_type" | "_rebuild_from_type_v2",
            )),
            [function, _, arguments, ..],
        ) if depth < DEEPEST => made(pickle, (*function, *arguments), depth + 1)?
            .map(Some)
            .ok_or_else(|| "a subclass made by another function; save its plain tensor".into()),
        (Some(("torch._utils" | "torch._tensor" | "torch.tensor", name)), _)
            if name.starts_with("_rebuild_") =>
        {
            Err(format!(
                "made by {name}, which is not a view of a storage; save what to_dense(), dequantize() or full_tensor() returns"
            ))
        }
        _ => Ok(None),
    }
}

/// Returns the tensor of these arguments: storage, first element, extents, strides, and more that does not matter here; then
/// perhaps a type.
fn rebuilt(pickle: &Pickle, arguments: &[Id]) -> Result<View, String> {
    let [storage, offset, extents, strides, rest @ ..] = arguments else {
        return Err("its call has fewer than four arguments".into());
    };
    let ranks = [extents, strides].map(|id| pickle.tuple(*id).len());
    if arguments.len() > MOST_ARGUMENTS || ranks.iter().any(|rank| *rank > MAX_MODES) {
        return Err(format!("more than {MOST_ARGUMENTS} arguments, or more than {MAX_MODES} dims"));
    }
    lazy(pickle, rest)?;
    let number = |id: &Id| match pickle.get(*id) {
        PickleValue::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let numbers = |id: &Id| pickle.tuple(*id).iter().map(number).collect::<Option<Vec<u64>>>();
    let all = (number(offset), numbers(extents), numbers(strides));
    let (Some(offset), Some(extents), Some(strides)) = all else {
        return Err("its extents, strides or first element are not whole numbers".into());
    };
    if extents.len() != strides.len() {
        return Err(format!("{} strides for {} dims", strides.len(), extents.len()));
    }
    let strides = strides.into_iter().map(i64::try_from).collect::<Result<_, _>>();
    let strides = strides.map_err(|_| "a stride exceeds 2^63")?;
    let own =
        rest.iter().find_map(|id| pickle.global(*id)).filter(|(module, _)| *module == "torch");
    let (storage, dtype) = stored(pickle, *storage, own.map(|(_, name)| name))?;
    Ok(View { storage, dtype, offset, extents, strides })
}

/// Returns an error for a view whose elements torch computes when it reads them: of the conjugate or the negative of what is stored.
fn lazy(pickle: &Pickle, arguments: &[Id]) -> Result<(), String> {
    for id in arguments {
        let PickleValue::Dict(pairs) = pickle.get(*id) else { continue };
        for (key, _) in pairs.iter().take(MOST_ARGUMENTS) {
            match pickle.get(*key) {
                PickleValue::Text(bit) if bit == "conj" || bit == "neg" => {
                    return Err(format!("a lazy view; save what resolve_{bit}() returns"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns the number of a storage and the type of its elements: `("storage", CLASS, NUMBER, DEVICE, LENGTH)`.
fn stored(pickle: &Pickle, id: Id, own: Option<&str>) -> Result<(String, &'static str), String> {
    let PickleValue::Persistent(id) = *pickle.get(id) else {
        return Err("its storage is not in the archive".into());
    };
    let [_, class, number, ..] = pickle.tuple(id) else {
        return Err("its storage has no number".into());
    };
    let (class, number) =
        (pickle.global(*class).map_or("?", |(_, name)| name), pickle.get(*number));
    let PickleValue::Text(number) = number else { return Err("its storage has no number".into()) };
    if number.len() > 64 {
        return Err("its storage has a number of more than 64 letters".into());
    }
    let of_class = STORAGES.iter().find(|(name, _)| *name == class).map(|(_, dtype)| *dtype);
    let of_tensor = |own: &str| TYPES.iter().find(|name| **name == own).copied();
    let dtype = match (own, of_class) {
        (Some(own), _) => {
            of_tensor(own).or(STORAGES.iter().map(|(_, dtype)| *dtype).find(|dtype| *dtype == own))
        }
        (None, found) => found,
    };
    let dtype =
        dtype.ok_or_else(|| format!("elements of {}, which are not read", own.unwrap_or(class)))?;
    Ok((number.clone(), dtype))
}
