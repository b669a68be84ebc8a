"""The programs of in_place.json that were written by hand: see make_in_place.py."""

import math


def counting(shape, asks="grad", start=1, dtype="f64"):
    numel = math.prod(int(size) for size in shape.split(",") if size)
    return f"{dtype} {shape} {asks} " + ",".join(str(start + i) for i in range(numel))


def classic(leaves, steps, *loss):
    return {"leaves": leaves, "steps": steps, "loss": list(loss)}


A3, A23, A33 = counting("3"), counting("2,3"), counting("3,3")
B3, B23 = counting("3", start=4), counting("2,3", start=7)
BIG = 9223372036854775807

CLASSICS = {
    "h17: a slice is written": classic(
        ["f64 2,5 grad 1,1,1,1,1,1,1,1,1,1", "f64 2,2 grad 0,0,0,0"],
        ["mul_scalar a 1", "slice t0 1 1 3 1", "copy_ t1 b", "sum t0 1 drop"], "t3"),
    "two views of one base, changed in turn": classic(
        [A33, A3],
        ["mul_scalar a 2", "select t0 0 0", "select t0 1 0", "mul_ t1 b", "add_ t2 b 1",
         "mul_ t1 b", "masked_fill_ t2 3/010 0.5", "add_ t1 b -2"], "t0", "t1", "t2"),
    "a transposed view is multiplied": classic(
        [A23, counting("3,2", start=2)],
        ["mul_scalar a 3", "transpose t0 0 1", "mul_ t1 b"], "t0"),
    "a view of a view of a view": classic(
        [counting("2,3,2"), counting("2")],
        ["mul_scalar a 2", "transpose t0 0 1", "narrow t1 0 1 2", "select t2 2 -1", "mul_ t3 b",
         "fill_ t3 4", "add_ t3 b 0.5"], "t0", "t1"),
    "the base is changed, then a view of before is read": classic(
        [A23, A3], ["mul_scalar a 2", "select t0 0 1", "mul_ t0 b", "exp t1"], "t3"),
    "a constant base becomes part of the graph through a view": classic(
        [counting("2,3", "const"), A3],
        ["select a 0 0", "select a 1 1", "copy_ t0 b", "mul_scalar t1 3"], "a", "t3", "t1"),
    "fill_ of everything kills the gradient": classic(
        [A3], ["mul_scalar a 2", "fill_ t0 5"], "t0"),
    "zero_ of everything kills the gradient": classic(
        [A3], ["mul_scalar a 2", "zero_ t0"], "t0"),
    "masked_fill_ everywhere kills the gradient": classic(
        [A3], ["mul_scalar a 2", "masked_fill_ t0 3/111 2"], "t0"),
    "two slices together overwrite everything": classic(
        [A3, counting("2", "const"), counting("2")],
        ["mul_scalar a 2", "slice t0 0 0 2 1", f"slice t0 0 -2 {BIG} 1", "copy_ t1 b",
         "copy_ t2 c"], "t0"),
    "copy_ from what requires a gradient into what does not": classic(
        [counting("2,3", "const"), A3], ["copy_ a b", "mul a a"], "t1"),
    "copy_ of f32 into f64 and back": classic(
        [counting("3", "const"), counting("3", dtype="f32"), counting("3", "const", dtype="f32")],
        ["copy_ a b", "mul_scalar a 3", "copy_ c t1"], "a", "c"),
    "add_ of itself": classic([A3], ["mul_scalar a 2", "add_ t0 t0 0.5"], "t0"),
    "mul_ by itself": classic([A3], ["mul_scalar a 2", "mul_ t0 t0"], "t0"),
    "mul_ by the leaf that it came from": classic([A3], ["mul_scalar a 2", "mul_ t0 a"], "t0"),
    "add_ of its own transpose": classic(
        [A33], ["mul_scalar a 2", "transpose t0 0 1", "add_ t0 t1 1"], "t0"),
    "copy_ of its own transpose": classic(
        [A33], ["mul_scalar a 2", "transpose t0 0 1", "copy_ t0 t1"], "t0"),
    "copy_ one place further": classic(
        [counting("6")], ["mul_scalar a 1", f"slice t0 0 1 {BIG} 1", "slice t0 0 0 -1 1",
                          "copy_ t1 t2"], "t0"),
    "copy_ one place back": classic(
        [counting("6")], ["mul_scalar a 1", f"slice t0 0 1 {BIG} 1", "slice t0 0 0 -1 1",
                          "copy_ t2 t1"], "t0"),
    # Left to itself, PyTorch notices nothing here and smears the first column over the rest.
    "copy_ one column further": classic(
        [counting("3,4")], ["mul_scalar a 1", f"slice t0 1 1 {BIG} 1", "slice t0 1 0 -1 1",
                            "copy_ t1 t2"], "t0"),
    "the even places from the odd ones": classic(
        [counting("6")], ["mul_scalar a 1", f"slice t0 0 0 {BIG} 2", f"slice t0 0 1 {BIG} 2",
                          "copy_ t1 t2"], "t0"),
    "add_ of its own first row": classic(
        [A33], ["mul_scalar a 2", "select t0 0 0", "add_ t0 t1 1"], "t0"),
    "index_put_ of its own beginning": classic(
        [counting("6")], ["mul_scalar a 1", "narrow t0 0 0 3", "index_put_ t0 1,2,3 t1 set"], "t0"),
    "index_put_ of itself": classic(
        [A3], ["mul_scalar a 2", "index_put_ t0 2,0,1 t0 set"], "t0"),
    "index_put_ adds to one place twice": classic(
        [A3, B3], ["mul_scalar a 2", "index_put_ t0 -1,0,-1 b add"], "t0"),
    "index_put_ through a transposed view": classic(
        [A33, counting("2,3", start=2)],
        ["mul_scalar a 2", "transpose t0 0 1", "index_put_ t1 2,-3 b set"], "t0"),
    "index_put_ with a dimension between the indexed ones": classic(
        [counting("2,3,2"), counting("2,3", start=2)],
        ["mul_scalar a 2", "index_put_ t0 0,-1/_/1,0 b add"], "t0"),
    "exp saved its result, which is changed": classic(
        [A3], ["exp a", "add_scalar t0 1", "zero_ t0"], "t1"),
    "exp saved its result, a view of which is changed": classic(
        [A23], ["exp a", "select t0 0 1", "no_grad fill_ t1 0"], "t0"),
    "exp saved its result, changed through detach": classic(
        [A3], ["exp a", "detach t0", "add_ t1 t1 1"], "t0"),
    "mul saved a factor, which is changed": classic(
        [A3, counting("3", "const")], ["mul a b", "no_grad mul_ b b"], "t0"),
    "mul saved no factor that no gradient needs": classic(
        [A3, counting("3", "const")], ["mul_scalar a 2", "mul t0 b", "zero_ t0"], "t1"),
    "div saved its divisor, which is changed twice": classic(
        [A3, B3], ["mul_scalar b 2", "div a t0", "zero_ t0", "fill_ t0 1"], "t1"),
    "mul_ saved what it multiplied by": classic(
        [A3, B3], ["mul_scalar a 2", "mul_scalar b 1", "mul_ t0 t1", "copy_ t1 a"], "t0"),
    "a sigmoid, its middle changed": classic(
        [A3], ["neg a", "exp t0", "add_scalar t1 1", "tanh t2", "mul_ t2 a"], "t3"),
    "tanh saved its result, which is changed": classic(
        [A3], ["tanh a", "add_ t0 a 1"], "t0"),
    "a change of what sum has read is no harm": classic(
        [A23], ["mul_scalar a 2", "sum t0 0 drop", "zero_ t0"], "t1"),
    "a leaf is changed": classic([A3], ["add_ a a 1"], "a"),
    "a leaf is changed without recording": classic(
        [A3], ["mul_scalar a 2", "no_grad zero_ a", "mul_scalar a 3"], "t0", "t2"),
    "a view of a leaf is changed": classic([A23], ["select a 0 0", "zero_ t0"], "t0"),
    "a view of a leaf is changed without recording": classic(
        [A23], ["select a 0 0", "no_grad zero_ t0", "mul_scalar a 3"], "t2"),
    "a leaf is changed through detach": classic(
        [A3], ["mul_scalar a 2", "detach a", "mul_ t1 t1", "mul_scalar a 3"], "t0", "t3"),
    "a detached transposed view has views of its own": classic(
        [A23, counting("3,2"), counting("2")],
        ["mul_scalar a 2", "transpose t0 0 1", "detach t1", "mul_ t2 b", "select t2 0 1",
         "add_ t4 c 2", "exp t4"], "t2", "t4", "t6"),
    "a leaf of f32 is multiplied by f64": classic(
        [counting("3", dtype="f32"), counting("3", "const")], ["mul_ a b"], "a"),
    "a leaf of f32 is added to in f64": classic(
        [counting("3", dtype="f32"), counting("3", "const")], ["add_ a b 1"], "a"),
    "exp saved a result of f32, which f64 is added to": classic(
        [counting("3", dtype="f32"), counting("3", "const")], ["exp a", "add_ t0 b 1"], "t0"),
    "f32 is multiplied by f64 and rounded": classic(
        [counting("3", dtype="f32"), counting("3")], ["mul_scalar a 0.3", "mul_ t0 b"], "t0"),
    "an expanded result": classic(
        [counting("1,3"), A23], ["mul_scalar a 2", "expand t0 2,-1", "add_ t1 b 1"], "t1"),
    "masked_fill_ of an expanded result": classic(
        [counting("1,3")], ["mul_scalar a 2", "expand t0 2,-1", "masked_fill_ t1 2,1/10 0"], "t1"),
    "a view made without recording": classic(
        [A3], ["mul_scalar a 2", "no_grad view t0 3", "zero_ t1"], "t0"),
    "an expanded view reads what changed below it": classic(
        [counting("1,3"), A3],
        ["mul_scalar a 2", "expand t0 2,-1", "unfold t0 1 2 1", "mul_ t0 b", "exp t1"],
        "t1", "t2", "t4"),
}
