//! A mark of what a PTX file was made of: it shows that a source has changed since, without NVRTC.

/// The mark of a source and of the headers that it includes in quotes, each once, as 16 digits;
/// `header` reads one by its name.
///
/// # Errors
///
/// Those of `header`.
pub fn of<E>(source: &str, header: impl Fn(&str) -> Result<String, E>) -> Result<String, E> {
    let mut inputs = source.to_string();
    append_headers(source, &mut inputs, &mut Vec::new(), &header)?;
    Ok(format!("{:016x}", hash(&inputs)))
}

/// Appends the headers that a text includes, and those that they include.
fn append_headers<E>(
    text: &str,
    to: &mut String,
    seen: &mut Vec<String>,
    header: &impl Fn(&str) -> Result<String, E>,
) -> Result<(), E> {
    for line in text.lines() {
        let Some(name) = line.strip_prefix("#include \"").and_then(|rest| rest.split('"').next())
        else {
            continue;
        };
        if !seen.iter().any(|other| other == name) {
            seen.push(name.to_string());
            let included = header(name)?;
            *to += &included;
            append_headers(&included, to, seen, header)?;
        }
    }
    Ok(())
}

/// FNV-1a: to notice a change, not to resist an attack. Source: G. Fowler, L. Noll, K.-P. Vo,
/// draft-eastlake-fnv.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}
