//! An array in shards with the layout of each shard, `ARRAY @ SHARDING / SPEC`.
//!
//! [`sharded`](crate::sharded) computes what each device holds and reads no layouts. [`notation`](crate::notation) reads layouts
//! of whole arrays. This module resolves the layout after ` / ` for the part that each device holds.

use std::fmt;

use tilewright_core::Fill;
use tilewright_notation::{Named, Spec};
use tilewright_sharded::{Shard, Sharded, Text};

use crate::Error;

/// An array in shards, with the layout of each shard in the memory of its device.
///
/// ```
/// use tilewright::InShards;
/// let array = InShards::parse("f16[100,64] @ mesh(tp=2) row / zN")?;
/// let shard = array.sharded.shard(1)?;
/// let zn = array.layout(&shard)?.unwrap();
/// assert_eq!(zn.to_spec(), "f16[100,32] zN");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InShards {
    /// The sharding, which gives what each device holds.
    pub sharded: Sharded,
    /// The layout of each shard; row-major if the text has none.
    pub shard: Option<Spec>,
}

impl InShards {
    /// Reads the text of an array in shards.
    ///
    /// # Errors
    /// The errors of [`Text::parse`] and [`Spec::parse`], and an error for a layout that does not fit what some device holds;
    /// each with its bytes of the text.
    ///
    /// ```
    /// use tilewright::InShards;
    /// let error = InShards::parse("f16[64] @ mesh(2) [Shard(0)] / zN").unwrap_err();
    /// assert_eq!(error.span(), Some((31, 33)));
    /// assert!(error.message().starts_with("device 0 holds [32]"));
    /// ```
    pub fn parse(text: &str) -> Result<InShards, Error> {
        let read = Text::parse(text).map_err(|error| error.in_text(text))?;
        let Some((from, to)) = read.shard else {
            return Ok(InShards { sharded: read.sharded, shard: None });
        };
        let spec = Spec::parse(text.get(from..to).unwrap_or(""))
            .map_err(|error| error.shifted(from).in_text(text))?;
        let array = InShards { sharded: read.sharded, shard: Some(spec) };
        array.check().map_err(|error| error.at((from, to)).in_text(text))?;
        Ok(array)
    }

    /// Returns the layout of a shard over its own extents. `None` if the device holds nothing, or if the text has no layout.
    ///
    /// # Errors
    /// As [`Spec::resolve`].
    ///
    /// ```
    /// use tilewright::InShards;
    /// let array = InShards::parse("f16[3,16] @ mesh(4) [Shard(0)] / row-major")?;
    /// let text = |position| -> Result<_, tilewright::Error> {
    ///     Ok(array.layout(&array.sharded.shard(position)?)?.map(|named| named.to_spec()))
    /// };
    /// assert_eq!((text(2)?, text(3)?), (Some("f16[1,16] row-major".into()), None));
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn layout(&self, shard: &Shard) -> Result<Option<Named>, Error> {
        match &self.shard {
            Some(spec) if !shard.is_empty() => {
                Ok(Some(spec.resolve(Some(&shard.extents()), self.sharded.dtype())?))
            }
            Some(_) | None => Ok(None),
        }
    }

    /// Returns one layout of all shards, with the memories of the devices one after another.
    ///
    /// # Errors
    /// [no layout](Error::is_no_layout), with the first position that no single layout has; also if the digits of a shard's
    /// layout do not end where the shards do.
    ///
    /// ```
    /// use tilewright::InShards;
    /// let array = InShards::parse("f32[8,6] @ mesh(2,2) [Shard(0), Shard(1)]")?;
    /// assert_eq!(array.as_layout()?.to_spec(), "f32[8,6] ((4,2),(3,2)):((3,24),(1,12))");
    /// let tiles = InShards::parse("f16[64,64] @ mesh(2) [Shard(0)] / zN")?;
    /// assert_eq!(tiles.as_layout()?.to_spec(), "f16[64,64] ((16,2,2),(16,4)):((16,256,2048),(1,512))");
    /// assert!(InShards::parse("f32[9] @ mesh(2) [Shard(0)]")?.as_layout().unwrap_err().is_no_layout());
    /// # Ok::<(), tilewright::Error>(())
    /// ```
    pub fn as_layout(&self) -> Result<Named, Error> {
        let (sharded, dtype) = (&self.sharded, self.sharded.dtype());
        let Some(own) = self.layout(&sharded.shard(0)?)? else {
            return Ok(Named::new("shards", sharded.as_layout()?, dtype, None, Fill::Unspecified));
        };
        let layout = sharded.as_layout_of(own.layout())?;
        Ok(Named::new("shards", layout, dtype, own.explicit_bits(), own.fill()))
    }

    /// Returns the whole text with this sharding.
    pub(crate) fn text(&self, sharding: &str) -> String {
        let shard = self.shard.as_ref().map_or(String::new(), |spec| format!(" / {spec}"));
        format!("{} @ {sharding}{shard}", self.sharded.array())
    }

    /// Checks that the layout fits what every device holds.
    fn check(&self) -> Result<(), Error> {
        let mut known: Vec<Vec<u64>> = Vec::new();
        for shard in self.sharded.shards() {
            let extents = shard.extents();
            if !known.contains(&extents) {
                let device =
                    shard.device().map_or("every device".into(), |at| format!("device {at}"));
                let said = format!("{device} holds {extents:?}: ");
                self.layout(&shard).map_err(|error| error.prefixed(&said))?;
                known.push(extents);
            }
        }
        Ok(())
    }
}

/// The whole text, in the first notation of shardings that can express it.
///
/// ```
/// use tilewright::InShards;
/// let array = InShards::parse("f16[64] @ mesh(2) P('0') / row-major")?;
/// assert_eq!(array.to_string(), "f16[64] @ mesh(2) [Shard(0)] / row-major");
/// # Ok::<(), tilewright::Error>(())
/// ```
impl fmt::Display for InShards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shard = self.shard.as_ref().map_or(String::new(), |spec| format!(" / {spec}"));
        write!(f, "{}{shard}", self.sharded)
    }
}
