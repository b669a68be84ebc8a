//! The index of a sharded state: the one file that makes a folder of rank files a checkpoint.
//!
//! ```text
//! {
//!   "format": "engine_room.sharded 1",
//!   "sharding": "flat",
//!   "units": ["blocks.0"],
//!   "world_size": 2,
//!   "files": ["rank-0-of-2.safetensors", "rank-1-of-2.safetensors"],
//!   "params": [
//!     {"name": "embed", "shape": [5, 4], "step": 3, "tensors": {"param": "F32", "exp_avg": "F32"}}
//!   ]
//! }
//! ```
//!
//! Which elements a file holds is not written down: it follows from the layout, so that no index
//! can claim pieces that overlap or leave a gap. The files must have just what follows.

use crate::dtype::DType;
use crate::error::Quoted;
use crate::json::JsonText;
use crate::serialize::header::{dims, dtype_named, theirs};
use crate::serialize::index::is_plain;
use crate::serialize::json::{Reader, write_strings};
use crate::serialize::sharded::plan::{Plan, Sharding, Spec};
use crate::serialize::sharded::share::PARAM;
use crate::shape::Dims;

/// The name of the index in its folder.
pub(super) const INDEX: &str = "sharded.index.json";
/// What the index begins with; another number when its meaning changes.
const FORMAT: &str = "engine_room.sharded 1";
const FLAT: &str = "flat";
const PER_PARAMETER: &str = "per_parameter";

/// The name of the file of a rank.
pub(super) fn file_of(rank: usize, world_size: usize) -> String {
    format!("rank-{rank}-of-{world_size}.safetensors")
}

/// The text of the index of a plan.
pub(super) fn written(plan: &Plan) -> String {
    let (sharding, units) = match &plan.sharding {
        Sharding::Flat { units } => (FLAT, units.as_slice()),
        Sharding::PerParameter => (PER_PARAMETER, &[][..]),
    };
    let files = (0..plan.world_size).map(|rank| file_of(rank, plan.world_size));
    let mut out = format!(
        "{{\n  \"format\": \"{FORMAT}\",\n  \"sharding\": \"{sharding}\",\n  \"units\": [{}],\n  \
         \"world_size\": {},\n  \"files\": [{}],\n  \"params\": [",
        strings(units.iter().cloned()),
        plan.world_size,
        strings(files)
    );
    for (number, spec) in plan.specs.iter().enumerate() {
        let (comma, name) = (if number == 0 { "" } else { "," }, JsonText(&spec.name));
        let Spec { shape, step, .. } = spec;
        out += &format!("{comma}\n    {{\"name\": {name}, \"shape\": {shape:?}, \"step\": {step}");
        out += ", \"tensors\": ";
        let dtypes: Vec<String> = spec.tensors.iter().map(|it| theirs(it.1).to_string()).collect();
        let names = spec.tensors.iter().map(|(name, _)| name.as_str());
        write_strings(&mut out, names.zip(dtypes.iter().map(String::as_str)));
        out.push('}');
    }
    out + "\n  ]\n}\n"
}

fn strings(texts: impl Iterator<Item = String>) -> String {
    let quoted = texts.map(|text| JsonText(&text).to_string());
    quoted.collect::<Vec<_>>().join(", ")
}

/// The plan that an index describes, and the file of each rank.
///
/// # Errors
/// A sentence without the name of the file.
pub(super) fn parse(text: &[u8]) -> Result<(Plan, Vec<String>), String> {
    let text = std::str::from_utf8(text).map_err(|error| format!("it is no UTF-8: {error}"))?;
    let mut fields = Fields::default();
    let mut reader = Reader::new(text);
    reader.object(&mut |reader, key| {
        match &*key {
            "format" => fields.format = reader.string()?.into_owned(),
            "sharding" => fields.sharding = reader.string()?.into_owned(),
            "units" => fields.units = texts(reader)?,
            "world_size" => fields.world_size = reader.number()?,
            "files" => fields.files = texts(reader)?,
            "params" => reader.list(&mut |reader| {
                let spec = spec(reader);
                fields.specs.push(spec.map_err(|error| format!("a parameter: {error}"))?);
                Ok(())
            })?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    reader.end()?;
    fields.plan()
}

/// What stands in an index, not looked at yet.
#[derive(Default)]
struct Fields {
    format: String,
    sharding: String,
    units: Vec<String>,
    world_size: u64,
    files: Vec<String>,
    specs: Vec<Spec>,
}

impl Fields {
    fn plan(self) -> Result<(Plan, Vec<String>), String> {
        if self.format != FORMAT {
            let format = Quoted(&self.format);
            return Err(format!("its format is {format}, and this engine reads \"{FORMAT}\""));
        }
        let sharding = match self.sharding.as_str() {
            FLAT => Sharding::Flat { units: self.units },
            PER_PARAMETER if self.units.is_empty() => Sharding::PerParameter,
            PER_PARAMETER => return Err(format!("its layout {PER_PARAMETER} has no units")),
            other => {
                let other = Quoted(other);
                return Err(format!("its layout is {other}, not {FLAT} or {PER_PARAMETER}"));
            }
        };
        // The list bounds the number: nothing is made for ranks that are only claimed.
        let (claimed, listed) = (self.world_size, self.files.len());
        if claimed != listed as u64 || listed == 0 {
            return Err(format!(
                "its world has {claimed} ranks, and it lists {listed} files; each rank has one"
            ));
        }
        if let Some(file) = self.files.iter().find(|file| !is_plain(file)) {
            return Err(format!("it names {}, which does not lie beside it", Quoted(file)));
        }
        Ok((Plan::new(self.specs, sharding, listed)?, self.files))
    }
}

fn texts(reader: &mut Reader) -> Result<Vec<String>, String> {
    let mut texts = Vec::new();
    reader.list(&mut |reader| {
        texts.push(reader.string()?.into_owned());
        Ok(())
    })?;
    Ok(texts)
}

fn spec(reader: &mut Reader) -> Result<Spec, String> {
    let (mut name, mut shape, mut step, mut tensors) = (None, None, 0, Vec::new());
    reader.object(&mut |reader, key| {
        match &*key {
            "name" => name = Some(reader.string()?.into_owned()),
            "shape" => shape = Some(dims(&reader.numbers()?)?),
            "step" => step = reader.number()?,
            "tensors" => tensors = dtypes(reader)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let name = name.ok_or("it lacks its name")?;
    let shape: Dims = shape.ok_or_else(|| format!("{} lacks its shape", Quoted(&name)))?;
    if tensors.first().is_none_or(|(first, _)| first != PARAM) {
        return Err(format!("the first tensor of {} must be {PARAM}", Quoted(&name)));
    }
    Ok(Spec { name, shape, step, tensors })
}

fn dtypes(reader: &mut Reader) -> Result<Vec<(String, DType)>, String> {
    let mut tensors = Vec::new();
    reader.object(&mut |reader, name| {
        let of_tensor = |error| format!("its tensor {} {error}", Quoted(&name));
        let dtype = dtype_named(reader.string()?).map_err(of_tensor)?;
        if !dtype.is_floating_point() {
            return Err(of_tensor(format!("is {dtype}, and training state is floating-point")));
        }
        tensors.push((name.into_owned(), dtype));
        Ok(())
    })?;
    Ok(tensors)
}
