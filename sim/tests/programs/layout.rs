//! `layout.cu`, with the cases H01 and H07 of kernels that went wrong elsewhere.

use crate::harness::{args, each, exact_floats, line, near, random, space};

fn transposed(data: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..data.len()).map(|i| data[i % rows * columns + i / rows]).collect()
}

#[test]
fn transposes() {
    let (rows, columns) = (37, 50);
    let data = exact_floats(1, rows * columns);
    let right = transposed(&data, rows, columns);
    each("layout", |host| {
        for kernel in ["transpose", "transpose_tiled"] {
            let (from, to) = (host.buffer(&data), host.buffer(&vec![0.0_f32; data.len()]));
            let shape = space([4, 3, 1], [16, 16, 1]);
            host.launch(kernel, shape, args![from, to, rows as i32, columns as i32]);
            assert_eq!(host.read::<f32>(to, data.len()), right, "{kernel}, {}", host.variant);
        }
    });
}

#[test]
fn matmul() {
    let (m, n, k) = (33, 47, 70);
    let (a, b) = (exact_floats(2, m * k), exact_floats(3, k * n));
    let product = |i: usize| -> f64 {
        (0..k).map(|j| f64::from(a[i / n * k + j]) * f64::from(b[j * n + i % n])).sum()
    };
    each("layout", |host| {
        let (a, b) = (host.buffer(&a), host.buffer(&b));
        let c = host.buffer(&vec![0.0_f32; m * n]);
        let shape = space([3, 3, 1], [16, 16, 1]);
        host.launch("matmul", shape, args![a, b, c, m as i32, n as i32, k as i32]);
        near(&host.read(c, m * n), (0..m * n).map(product), 1e-4, host.variant);
    });
}

#[test]
fn stencil_in_three_dimensions() {
    let [nx, ny, nz] = [13, 9, 7];
    let data: Vec<i32> = random(4, nx * ny * nz).iter().map(|x| *x as i32 % 1000).collect();
    let at = |x: usize, y: usize, z: usize| match x < nx && y < ny && z < nz {
        true => data[(z * ny + y) * nx + x],
        false => 0,
    };
    let right: Vec<i32> = (0..data.len())
        .map(|i| {
            let (x, y, z) = (i % nx, i / nx % ny, i / nx / ny);
            let before = |i: usize| i.wrapping_sub(1);
            let along = [at(x, y, z), at(x + 1, y, z), at(before(x), y, z), at(x, y + 1, z)];
            let across = [at(x, before(y), z), at(x, y, z + 1), at(x, y, before(z))];
            along.iter().chain(&across).sum()
        })
        .collect();
    each("layout", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&vec![0_i32; data.len()]));
        let shape = space([4, 3, 3], [4, 4, 3]);
        host.launch("stencil", shape, args![from, to, nx as i32, ny as i32, nz as i32]);
        assert_eq!(host.read::<i32>(to, data.len()), right, "{}", host.variant);
    });
}

#[test]
fn identity_in_three_dimensions() {
    let (grid, block) = ([3, 2, 4], [5, 3, 2]);
    let mut right = Vec::new();
    for b in 0..24 {
        for t in 0..30 {
            right.push([b % 3, b / 3 % 2, b / 6]);
            right.push([t % 5, t / 5 % 3, t / 15]);
        }
    }
    each("layout", |host| {
        let (out, sizes) = (host.buffer(&vec![[0_u32; 3]; 1440]), host.buffer(&[0_u32; 3]));
        host.launch("identity", space(grid, block), args![out, sizes]);
        assert_eq!(host.read::<[u32; 3]>(out, 1440), right, "{}", host.variant);
        assert_eq!(host.read::<u32>(sizes, 3), [324, 532, 32], "{}", host.variant);
    });
}

/// H01: element counts that are no multiple of the block, with guard values behind.
#[test]
fn counts_that_are_no_multiple_of_the_block() {
    let counts = [0, 1, 31, 32, 33, 255, 256, 257, 1000, 1023, 1025];
    let blocks = [0, 1, 1, 1, 1, 1, 1, 2, 4, 4, 5];
    let kernels = [("plus_one", 1), ("plus_one_by_two", 2), ("plus_one_by_four", 4)];
    each("layout", |host| {
        for ((n, blocks), (kernel, width)) in
            counts.iter().zip(blocks).flat_map(|case| kernels.map(|kernel| (case, kernel)))
        {
            let n = *n as usize;
            assert_eq!(n.div_ceil(256), blocks);
            let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let (from, to) = (host.buffer(&x), host.buffer(&vec![-7.0_f32; n + 64]));
            let blocks = n.div_ceil(width).div_ceil(256) as u32;
            if blocks > 0 {
                host.launch(kernel, line(blocks, 256), args![from, to, n as i32]);
            }
            let found: Vec<f32> = host.read(to, n + 64);
            for (i, y) in found.iter().enumerate() {
                let right = if i < n { i as f32 + 1.0 } else { -7.0 };
                assert_eq!(*y, right, "{kernel}, {n}, {i}, {}", host.variant);
            }
        }
    });
}

/// H07: kernels must use the strides of their input.
#[test]
fn sums_of_rows_of_views() {
    let base = [0.0_f32, 1.0, 2.0, 100.0, 3.0, 1.0, 0.0, -100.0];
    // The first element, the strides of rows and columns, the columns of two rows, and the sums.
    let views = [
        (0, [4_i64, 1], 3_i32, [3.0, 4.0]),
        (1, [1, 4], 2, [2.0, 2.0]),
        (0, [4, 2], 2, [2.0, 3.0]),
    ];
    each("layout", |host| {
        let data = host.buffer(&base);
        for (first, strides, columns, right) in views {
            let mut view = (data.0 + 4 * first).to_le_bytes().to_vec();
            view.extend(strides.iter().flat_map(|s| s.to_le_bytes()));
            view.extend([2, columns].iter().flat_map(|s| s.to_le_bytes()));
            let out = host.buffer(&[0.0_f32; 2]);
            host.launch("row_sums", line(1, 32), args![view, out]);
            assert_eq!(host.read::<f32>(out, 2), right, "{}", host.variant);
        }
    });
}

/// A particle as C lays it out: 24 bytes, the last one padding.
fn particle(mass: f64, position: [f32; 3], charge: i16, kind: u8) -> Vec<u8> {
    let mut bytes = mass.to_le_bytes().to_vec();
    bytes.extend(position.iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(charge.to_le_bytes());
    bytes.extend([kind, 0]);
    bytes
}

#[test]
fn structures_by_value_and_by_reference() {
    let of = |i: u8| {
        let x = f32::from(i);
        particle(f64::from(i) + 0.5, [x, -x, 2.0 * x], i16::from(i) * 100, i)
    };
    let after = |i: u8| {
        let x = f32::from(i);
        let position = [x + 0.25, -x + 0.5, 2.0 * x - 1.0];
        particle((f64::from(i) + 0.5) * 3.0, position, i16::from(i) * 100 - 7, i ^ 0x55)
    };
    each("layout", |host| {
        let all = host.buffer(&(0..50).flat_map(of).collect::<Vec<u8>>());
        let wind = particle(3.0, [0.25, 0.5, -1.0], 7, 0x55);
        host.launch("move", line(2, 32), args![all, wind, 50]);
        let found: Vec<u8> = host.read(all, 50 * 24);
        assert_eq!(found, (0..50).flat_map(after).collect::<Vec<u8>>(), "{}", host.variant);
    });
}

#[test]
fn constants_and_initialised_globals() {
    let x = exact_floats(5, 100);
    let value = |x: &f32| {
        let x = f64::from(*x);
        1.5 + x * (-2.0 + x * (0.25 + x * (4.0 - 0.125 * x)))
    };
    let table = [[10, 20, 30], [-1, -2, -3]];
    let right: Vec<i32> = (0..100).map(|i| table[i % 2][i % 3]).collect();
    each("layout", |host| {
        let from = host.buffer(&x);
        let (y, z) = (host.buffer(&[0.0_f32; 100]), host.buffer(&[0_i32; 100]));
        host.launch("polynomial", line(1, 128), args![from, y, z, 100]);
        near(&host.read(y, 100), x.iter().map(value), 1e-6, host.variant);
        assert_eq!(host.read::<i32>(z, 100), right, "{}", host.variant);
    });
}

#[test]
fn scatter_of_narrow_cells() {
    let a: Vec<i8> = random(6, 100).iter().map(|x| *x as i8).collect();
    let b: Vec<u16> = random(7, 100).iter().map(|x| *x as u16).collect();
    let index: Vec<i32> = (0..100).map(|i| i * 37 % 100).collect();
    let mut right = vec![0_i64; 100];
    for (a, &at) in a.iter().zip(&index) {
        right[at as usize] = i64::from(*a) * i64::from(b[at as usize]);
    }
    each("layout", |host| {
        let (a, b, index) = (host.buffer(&a), host.buffer(&b), host.buffer(&index));
        let out = host.buffer(&[0_i64; 100]);
        host.launch("scatter", line(1, 128), args![a, b, out, index, 100]);
        assert_eq!(host.read::<i64>(out, 100), right, "{}", host.variant);
    });
}
