//! `control.cu`.

use crate::harness::{args, each, line, random, space};

#[test]
fn collatz() {
    let data: Vec<u32> = (1..=300).collect();
    let steps = |&n: &u32| {
        let (mut x, mut count) = (u64::from(n), 0);
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            count += 1;
        }
        count
    };
    let right: Vec<u32> = data.iter().map(steps).collect();
    each("control", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0_u32; 300]));
        host.launch("collatz", line(3, 128), args![from, to, 300]);
        assert_eq!(host.read::<u32>(to, 300), right, "{}", host.variant);
    });
}

#[test]
fn mandelbrot() {
    let (width, height, limit) = (45, 30, 60);
    let escape = |p: usize| {
        let cx = (p % width) as f64 * 3.0 / width as f64 - 2.0;
        let cy = (p / width) as f64 * 2.0 / height as f64 - 1.0;
        let (mut x, mut y) = (0.0, 0.0);
        for i in 0..limit {
            let (xx, yy) = (x * x, y * y);
            if xx + yy > 4.0 {
                return i;
            }
            y = 2.0 * x * y + cy;
            x = xx - yy + cx;
        }
        limit
    };
    let right: Vec<u8> = (0..width * height).map(escape).collect();
    each("control", |host| {
        let out = host.buffer(&vec![0_u8; width * height]);
        let shape = space([3, 4, 1], [16, 8, 1]);
        host.launch("mandelbrot", shape, args![out, width as i32, height as i32, limit as i32]);
        let found: Vec<u8> = host.read(out, width * height);
        // Compilers may fuse what the coordinates are made of: a few points may differ.
        let wrong = found.iter().zip(&right).filter(|(a, b)| a != b).count();
        assert!(wrong <= 3, "{wrong} points, {}", host.variant);
    });
}

#[test]
fn recursion() {
    fn fibonacci(n: u32) -> u32 {
        if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
    }
    fn ackermann(m: i32, n: i32) -> i32 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    let fibonaccis: Vec<u32> = (0..64).map(|i| fibonacci(i % 15)).collect();
    let ackermanns: Vec<i32> = (0..32).map(|i| ackermann(i / 8 % 3, i % 8)).collect();
    each("control", |host| {
        let out = host.buffer(&[0_u32; 64]);
        host.launch("fibonaccis", line(1, 64), args![out]);
        assert_eq!(host.read::<u32>(out, 64), fibonaccis, "{}", host.variant);
        host.launch("ackermanns", line(1, 32), args![out]);
        assert_eq!(host.read::<i32>(out, 32), ackermanns, "{}", host.variant);
    });
}

#[test]
fn mutual_recursion() {
    fn hanoi(n: usize, from: usize, to: usize, counts: &mut [i32]) {
        if n > 0 {
            hanoi(n - 1, from, 3 - from - to, counts);
            counts[to] += 1;
            hanoi(n - 1, 3 - from - to, to, counts);
        }
    }
    let mut right = vec![0; 96];
    right.chunks_mut(3).enumerate().for_each(|(t, own)| hanoi(t % 7, 0, 2, own));
    each("control", |host| {
        let out = host.buffer(&[0_i32; 96]);
        host.launch("hanoi", line(1, 32), args![out]);
        assert_eq!(host.read::<i32>(out, 96), right, "{}", host.variant);
    });
}

/// The machine of `machine`.
fn interpret(code: &[u8], mut x: i32) -> i32 {
    let (mut stack, mut top, mut pc) = ([0_i32; 8], 0_usize, 0);
    let below = |top: usize, n: usize| top.wrapping_sub(n) & 7;
    for fuel in 0..200 {
        let Some(&instruction) = code.get(pc) else { break };
        pc += 1;
        let (a, b) = (below(top, 2), below(top, 1));
        match instruction {
            0 => {
                stack[top & 7] = x;
                top = top.wrapping_add(1);
            }
            1..=3 => {
                stack[a] = match instruction {
                    1 => stack[a].wrapping_add(stack[b]),
                    2 => stack[a].wrapping_sub(stack[b]),
                    _ => stack[a].wrapping_mul(stack[b]),
                };
                top = top.wrapping_sub(1);
            }
            4 => {
                stack[top & 7] = stack[b];
                top = top.wrapping_add(1);
            }
            5 => x = stack[b] % 97,
            6 => stack[b] ^= 0x5a5a,
            7 => pc += if stack[b] & 1 != 0 { 2 } else { 0 },
            8 => stack[b] = stack[b].wrapping_neg(),
            9 => pc = if fuel < 100 { 0 } else { pc },
            10 => stack[b] >>= 1,
            _ => x = x.wrapping_add(1),
        }
    }
    stack[below(top, 1)].wrapping_add(1000 * pc as i32)
}

#[test]
fn jump_tables() {
    // The stack is eight numbers, all of them written before any is read.
    let mut code = vec![0, 11, 0, 11, 0, 11, 0, 11, 0, 11, 0, 11, 0, 11, 0, 11];
    code.extend([0, 4, 3, 7, 5, 6, 10, 7, 8, 1, 11, 0, 2, 12, 4, 1, 7, 6, 5, 0, 3, 10, 9, 8, 5, 0]);
    let input: Vec<i32> = random(2, 64).iter().map(|x| *x as i32 % 1000).collect();
    let right: Vec<i32> = input.iter().map(|x| interpret(&code, *x)).collect();
    each("control", |host| {
        let (program, input) = (host.buffer(&code), host.buffer(&input));
        let out = host.buffer(&[0_i32; 64]);
        host.launch("machine", line(2, 32), args![program, input, out, code.len() as i32]);
        assert_eq!(host.read::<i32>(out, 64), right, "{}", host.variant);
    });
}

#[test]
fn calls_by_pointer() {
    let data: Vec<f32> = (0..64).map(|i| i as f32 * 0.5 - 7.0).collect();
    let functions: [fn(f32) -> f32; 3] = [|x| 2.0 * x, |x| x * x, |x| -x];
    let right: Vec<f32> =
        (0..64).map(|i| functions[i % 3](functions[i / 3 % 3](data[i]))).collect();
    each("control", |host| {
        let (from, to) = (host.buffer(&data), host.buffer(&[0.0_f32; 64]));
        host.launch("by_pointer", line(2, 32), args![from, to]);
        assert_eq!(host.read::<f32>(to, 64), right, "{}", host.variant);
    });
}

#[test]
fn queens() {
    each("control", |host| {
        for (n, right) in [(4, 2), (5, 10), (6, 4), (7, 40)] {
            let out = host.buffer(&[0_u32]);
            host.launch("queens", line(1, 32), args![n, out]);
            assert_eq!(host.read::<u32>(out, 1), [right], "{n}, {}", host.variant);
        }
    });
}

#[test]
fn searches() {
    let table: Vec<i32> = (0..1000).map(|i| i * 3 - 500).collect();
    let wanted: Vec<i32> = random(3, 128).iter().map(|x| *x as i32 % 3000).collect();
    let right: Vec<i32> =
        wanted.iter().map(|x| table.binary_search(x).map_or(-1, |at| at as i32)).collect();
    each("control", |host| {
        let (table, wanted) = (host.buffer(&table), host.buffer(&wanted));
        let found = host.buffer(&[0_i32; 128]);
        host.launch("search", line(2, 64), args![table, 1000, wanted, found]);
        assert_eq!(host.read::<i32>(found, 128), right, "{}", host.variant);
    });
}

#[test]
fn nested_loops() {
    let model = |t: i32| {
        let mut sum = 0;
        for i in (0..t).filter(|i| i % 3 != t % 3) {
            for j in i..2 * t {
                if j * i > 200 {
                    break;
                }
                if sum > 5000 {
                    return -sum;
                }
                sum += if j % 5 == 2 { i } else { j };
            }
        }
        sum
    };
    let right: Vec<i32> = (0..96).map(model).collect();
    each("control", |host| {
        let out = host.buffer(&[0_i32; 96]);
        host.launch("nested", line(1, 96), args![out]);
        assert_eq!(host.read::<i32>(out, 96), right, "{}", host.variant);
    });
}
