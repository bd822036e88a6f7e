# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random bodies of elementwise operations: straight-line arith and math on scalars."""

from random_program import FLOATS, HALVES, INTEGERS, fits


class Scalar:
    def __init__(self, name, dtype, mag, grain, special=False):
        self.name, self.dtype, self.mag, self.grain, self.special = name, dtype, mag, grain, special

    @property
    def exact(self):
        if self.dtype not in FLOATS:
            return True
        return self.grain is not None and self.grain + self.mag <= FLOATS[self.dtype] - 2


class Body:
    def __init__(self, b, inputs):
        self.b, self.lines, self.count = b, [], 0
        self.values = [Scalar(f"%x{k}", v.type.dtype, v.mag, v.grain, v.special)
                       for k, v in enumerate(inputs)]  # fmt: skip

    def add(self, text, dtype, mag, grain=None, special=False):
        name = f"%t{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        if dtype in INTEGERS:
            mag, grain = min(mag, INTEGERS[dtype]), 0
        self.values.append(Scalar(name, dtype, mag, grain, special))
        return self.values[-1]

    def constant(self, dtype, number=None):
        if dtype in FLOATS:
            number = self.b.rng.choice([0.0, 0.5, 1.0, -1.25, 2.0]) if number is None else number
            s = self.add(f"arith.constant {float(number)} : {dtype}", dtype, 1, 2)
        else:
            number = self.b.rng.choice([0, 1, 2, -3, 7]) if number is None else number
            text = (
                f"arith.constant {number} : {dtype}"
                if dtype != "i1"
                else f"arith.constant {'true' if number else 'false'}"
            )
            s = self.add(text, dtype, 3, 0)
        self.values.pop()  # not to be chosen by itself
        return s

    def convert(self, s, dtype):
        """s as a number of another type; None where that is not defined."""
        if s.dtype == dtype:
            return s
        before, after = s.dtype in FLOATS, dtype in FLOATS
        if after and not fits(dtype, s.mag):
            return None
        if s.dtype in HALVES and dtype in HALVES:
            s = self.convert(s, "f32")
        if before and after:
            op = "extf" if FLOATS[dtype] > FLOATS[s.dtype] else "truncf"
            keep = s.grain if s.grain is not None and s.grain + s.mag <= FLOATS[dtype] - 2 else None
            return self.add(
                f"arith.{op} {s.name} : {s.dtype} to {dtype}", dtype, s.mag, keep, s.special
            )
        if after:
            op = "uitofp" if s.dtype == "i1" else "sitofp"
            return self.add(f"arith.{op} {s.name} : {s.dtype} to {dtype}", dtype, s.mag,
                            0 if s.mag <= FLOATS[dtype] - 2 else None)  # fmt: skip
        if before:
            if dtype == "i1" or not s.exact or s.special or s.mag >= INTEGERS[dtype] - 1:
                return None
            return self.add(f"arith.fptosi {s.name} : {s.dtype} to {dtype}", dtype, s.mag)
        if s.dtype == "i1":
            return self.add(f"arith.extui {s.name} : i1 to {dtype}", dtype, 1)
        if dtype == "i1":
            return self.compare(s, self.constant(s.dtype))
        op = "extsi" if INTEGERS[dtype] > INTEGERS[s.dtype] else "trunci"
        return self.add(f"arith.{op} {s.name} : {s.dtype} to {dtype}", dtype, s.mag)

    def compare(self, x, y):
        rng = self.b.rng
        if x.dtype in FLOATS:
            if not (x.exact and y.exact):
                return None
            return self.add(f"arith.cmpf {rng.choice(['ogt', 'olt', 'oge', 'ole', 'oeq', 'une'])}, "
                            f"{x.name}, {y.name} : {x.dtype}", "i1", 1)  # fmt: skip
        if x.dtype == "i1":
            return self.add(
                f"arith.{rng.choice(['andi', 'ori', 'xori'])} {x.name}, {y.name} : i1", "i1", 1
            )
        return self.add(f"arith.cmpi {rng.choice(['sgt', 'slt', 'sge', 'sle', 'eq', 'ne'])}, "
                        f"{x.name}, {y.name} : {x.dtype}", "i1", 1)  # fmt: skip

    # One more operation each; None where it does not apply.

    def other(self, x):
        """Another operand of x's type."""
        if self.b.chance(0.25):
            return self.constant(x.dtype)
        y = self.b.rng.choice(self.values)
        if y.dtype == x.dtype:
            return y
        return self.convert(y, x.dtype) or self.constant(x.dtype)

    def float_binary(self, x):
        y, rng = self.other(x), self.b.rng
        op = rng.choice(["addf", "subf", "mulf", "maximumf", "minimumf", "divide", "fma"])
        exact = x.grain is not None and y.grain is not None
        special = x.special or y.special
        if op == "divide":  # by 1 + y * y
            if y.mag > 10 or x.mag > 40 or not fits(x.dtype, 2 * y.mag + 1):
                return None
            square = self.add(
                f"arith.mulf {y.name}, {y.name} : {x.dtype}", x.dtype, 2 * y.mag, None, special
            )
            one = self.constant(x.dtype, 1.0)
            divisor = self.add(f"arith.addf {square.name}, {one.name} : {x.dtype}", x.dtype, 2 * y.mag + 1,
                               None, special)  # fmt: skip
            return self.add(
                f"arith.divf {x.name}, {divisor.name} : {x.dtype}", x.dtype, x.mag, None, special
            )
        if op in ("mulf", "fma"):
            mag, grain = x.mag + y.mag, x.grain + y.grain if exact else None
            if mag > 40 or not fits(x.dtype, mag + 1):
                return None
            if op == "fma":
                z = self.other(x)
                if not fits(x.dtype, z.mag + 1):
                    return None
                grain = max(grain, z.grain) if exact and z.grain is not None else None
                # Fused or not must be the same.
                special |= z.special
                return self.add(f"math.fma {x.name}, {y.name}, {z.name} : {x.dtype}", x.dtype,
                                max(mag, z.mag) + 1, grain, special)  # fmt: skip
            return self.add(
                f"arith.mulf {x.name}, {y.name} : {x.dtype}", x.dtype, mag, grain, special
            )
        grain = max(x.grain, y.grain) if exact else None
        grow = 0 if op.startswith("m") else 1
        if x is y and op == "subf" or not fits(x.dtype, max(x.mag, y.mag) + grow):
            return None
        return self.add(f"arith.{op} {x.name}, {y.name} : {x.dtype}", x.dtype, max(x.mag, y.mag) + grow,
                        grain, special)  # fmt: skip

    def float_unary(self, x):
        op = self.b.rng.choice(["negf", "absf", "tanh", "exp", "sqrt", "log", "rsqrt", "sin", "cos",
                                "erf", "floor", "ceil", "trunc", "roundeven", "exp2", "expm1", "log1p",
                                "atan", "cbrt"])  # fmt: skip

        if not fits(x.dtype, x.mag + 1):
            return None

        def add(text, mag, grain=None):
            return self.add(f"{text} : {x.dtype}", x.dtype, mag, grain, x.special)

        if op == "negf":
            return add(f"arith.negf {x.name}", x.mag, x.grain)
        if op == "absf":
            return add(f"math.absf {x.name}", x.mag, x.grain)
        if op in ("floor", "ceil", "trunc", "roundeven"):
            return add(f"math.{op} {x.name}", x.mag + 1, 0) if x.exact else None
        if op in ("exp", "exp2", "expm1"):
            return add(f"math.{op} {x.name}", 13) if x.mag <= 3 else None
        if op in ("sin", "cos"):
            return add(f"math.{op} {x.name}", 1) if x.mag <= 6 and not x.special else None
        if op in ("sqrt", "log", "rsqrt", "log1p"):  # of |x| + 1
            positive = add(f"math.absf {x.name}", x.mag, x.grain)
            one = self.constant(x.dtype, 1.0)
            more = add(f"arith.addf {positive.name}, {one.name}", x.mag + 1)
            return add(f"math.{op} {more.name}", max(x.mag, 7))
        return add(f"math.{op} {x.name}", max(1, x.mag if op == "cbrt" else 1))

    def integer_binary(self, x):
        rng = self.b.rng
        op = rng.choice(["addi", "subi", "muli", "maxsi", "minsi", "andi", "ori", "xori", "divsi",
                         "remsi", "floordivsi", "maxui", "shrsi"])  # fmt: skip
        if op in ("divsi", "remsi", "floordivsi"):
            y = self.constant(x.dtype, rng.choice([2, 3, 7, -3]))
            return self.add(f"arith.{op} {x.name}, {y.name} : {x.dtype}", x.dtype, x.mag)
        if op == "shrsi":
            y = self.constant(x.dtype, rng.choice([1, 3]))
            return self.add(f"arith.{op} {x.name}, {y.name} : {x.dtype}", x.dtype, x.mag)
        y = self.other(x)
        mag = x.mag + y.mag if op == "muli" else max(x.mag, y.mag) + (op in ("addi", "subi"))
        mag = 64 if op == "maxui" else mag
        return self.add(f"arith.{op} {x.name}, {y.name} : {x.dtype}", x.dtype, mag)

    def select(self, x):
        y = self.other(x)
        masks = [s for s in self.values if s.dtype == "i1"]
        mask = self.b.rng.choice(masks) if masks and self.b.chance(0.7) else None
        if mask is None:
            z = self.b.rng.choice(self.values)
            mask = self.compare(z, self.other(z)) if z.exact else None
        if mask is None:
            return None
        grain = max(x.grain, y.grain) if x.grain is not None and y.grain is not None else None
        return self.add(f"arith.select {mask.name}, {x.name}, {y.name} : {x.dtype}", x.dtype,
                        max(x.mag, y.mag), grain, x.special or y.special)  # fmt: skip

    def step(self):
        rng = self.b.rng
        x = rng.choice(self.values[-3:])
        if self.b.chance(0.1):
            y = self.convert(x, rng.choice([*FLOATS, *INTEGERS]))
            return y if y is not x else None
        if self.b.chance(0.15):
            return self.select(x)
        if self.b.chance(0.1):
            return self.compare(x, self.other(x))
        if x.dtype == "i1":
            return self.compare(x, self.other(x))
        if x.dtype in FLOATS:
            return self.float_unary(x) if self.b.chance(0.5) else self.float_binary(x)
        return self.integer_binary(x)


def region(b, inputs):
    """Lines of a body, the dtype of what it yields, and facts about it."""
    body = Body(b, inputs)
    wanted = b.rng.choice([1, 1, 2, 3, 5])
    last = None
    for _ in range(50):
        if wanted <= 0:
            break
        made = body.step()
        if made is not None:
            last, wanted = made, wanted - 1
    if last is None:
        last = body.values[0]
    lines = [*body.lines, f"ragged.yield {last.name} : {last.dtype}"]
    return lines, last.dtype, dict(mag=last.mag, grain=last.grain, special=last.special)
