//! 2.1 to 2.4.

use engine_room::Layout;

use super::super::header::Header;
use super::super::solution;

pub fn by_products(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|dim| shape[dim + 1..].iter().product()).collect()
}

pub fn by_layout(shape: &[usize]) -> Vec<usize> {
    Layout::contiguous(shape).strides().to_vec()
}

/// A size of 0 counts as 1, as in PyTorch.
pub fn grown(shape: &[usize]) -> Vec<usize> {
    let (mut strides, mut step) = (Vec::new(), 1);
    for &size in shape.iter().rev() {
        strides.insert(0, step);
        step *= size.max(1);
    }
    strides
}

pub fn by_sum(header: &Header, index: &[usize]) -> usize {
    let steps: usize = header.strides.iter().zip(index).map(|(stride, i)| stride * i).sum();
    header.offset + steps
}

pub fn by_map(header: &Header, order: &[usize]) -> Header {
    Header {
        shape: order.iter().map(|&from| header.shape[from]).collect(),
        strides: order.iter().map(|&from| header.strides[from]).collect(),
        offset: header.offset,
    }
}

pub fn by_pairs(header: &Header, order: &[usize]) -> Header {
    let pairs: Vec<(usize, usize)> =
        header.shape.iter().copied().zip(header.strides.iter().copied()).collect();
    let (shape, strides) = order.iter().map(|&from| pairs[from]).unzip();
    Header { shape, strides, offset: header.offset }
}

/// An empty result begins where the whole did.
pub fn rebuilt(header: &Header, dim: usize, start: usize, len: usize) -> Header {
    let (mut shape, mut index) = (header.shape.clone(), vec![0; header.shape.len()]);
    shape[dim] = len;
    index[dim] = if len == 0 { 0 } else { start };
    Header { shape, strides: header.strides.clone(), offset: by_sum(header, &index) }
}

pub fn from_the_back(header: &Header, shape: &[usize]) -> Option<Header> {
    let mut own = header.shape.iter().zip(&header.strides).rev();
    let mut strides = Vec::new();
    for &size in shape.iter().rev() {
        strides.push(match own.next() {
            None | Some((1, _)) => 0,
            Some((&same, &stride)) if same == size => stride,
            Some(_) => return None,
        });
    }
    if own.next().is_some() {
        return None;
    }
    strides.reverse();
    Some(Header { shape: shape.to_vec(), strides, offset: header.offset })
}

/// A size of 1 that stays keeps its stride, and a new size of 1 gets one as if it were packed.
pub fn as_pytorch(header: &Header, shape: &[usize]) -> Option<Header> {
    let added = shape.len().checked_sub(header.shape.len())?;
    let mut strides = vec![0; shape.len()];
    for dim in (0..shape.len()).rev() {
        strides[dim] = if dim >= added && header.shape[dim - added] == shape[dim] {
            header.strides[dim - added]
        } else if dim >= added && header.shape[dim - added] != 1 {
            return None;
        } else if dim < added && shape[dim] == 1 && dim + 1 < shape.len() {
            shape[dim + 1] * strides[dim + 1]
        } else {
            0
        };
    }
    Some(Header { shape: shape.to_vec(), strides, offset: header.offset })
}

/// Every place in logical order.
fn places(header: &Header) -> Vec<usize> {
    let mut places = vec![header.offset];
    for (&size, &stride) in header.shape.iter().zip(&header.strides) {
        places = places.iter().flat_map(|at| (0..size).map(move |i| at + i * stride)).collect();
    }
    places
}

pub fn by_places(header: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    let all = places(header);
    let behind = by_products(shape);
    if shape.iter().product::<usize>() != all.len() {
        return None;
    }
    let step = |&behind: &usize| all.get(behind).map_or(Some(0), |at| at.checked_sub(all[0]));
    let strides: Vec<usize> = behind.iter().map(step).collect::<Option<_>>()?;
    let seen = Header { shape: shape.to_vec(), strides: strides.clone(), offset: header.offset };
    (places(&seen) == all).then_some(strides)
}

/// From the front, as NumPy does it: take sizes from both shapes until their products agree.
pub fn two_fingers(header: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    let numel: usize = shape.iter().product();
    if numel != header.shape.iter().product::<usize>() {
        return None;
    }
    if numel == 0 {
        return Some(solution::contiguous_strides(shape));
    }
    let real: Vec<usize> = (0..header.shape.len()).filter(|&dim| header.shape[dim] != 1).collect();
    let old: Vec<usize> = real.iter().map(|&dim| header.shape[dim]).collect();
    let steps: Vec<usize> = real.iter().map(|&dim| header.strides[dim]).collect();
    let mut strides = vec![0; shape.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() {
        let (first_old, first_new) = (i, j);
        let (mut have, mut want) = (old[i], shape[j]);
        while have != want {
            if have < want {
                i += 1;
                have *= old[i];
            } else {
                j += 1;
                want *= shape[j];
            }
        }
        if (first_old..i).any(|dim| steps[dim] != old[dim + 1] * steps[dim + 1]) {
            return None;
        }
        let mut step = steps[i];
        for dim in (first_new..=j).rev() {
            strides[dim] = step;
            step *= shape[dim];
        }
        (i, j) = (i + 1, j + 1);
    }
    Some(strides)
}

pub fn by_runs(header: &Header, shape: &[usize]) -> Option<Vec<usize>> {
    let count: usize = header.shape.iter().product();
    if count != shape.iter().product::<usize>() {
        return None;
    }
    if count == 0 {
        return Some(vec![7; shape.len()]);
    }
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (&size, &stride) in header.shape.iter().zip(&header.strides) {
        match runs.last_mut() {
            _ if size == 1 => {}
            Some((run, step)) if *step == size * stride => (*run, *step) = (*run * size, stride),
            _ => runs.push((size, stride)),
        }
    }
    let mut strides = Vec::new();
    let mut run = (1, 1);
    for &size in shape.iter().rev() {
        if run.0 == 1 && size > 1 {
            run = runs.pop()?;
        }
        if run.0 % size != 0 {
            return None;
        }
        strides.push(run.1);
        run = (run.0 / size, run.1 * size);
    }
    strides.reverse();
    Some(strides)
}
