package pass

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestBounds runs threads of random kernels, with and without what versionKernel does: indices are polynomials of the
// thread's place, a counter and parameters, which are small, or so large that products wrap around. Sweeps run 2500 kernels, others
// 1000.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	applied, fast, n := 0, 0, 1000
	if sweep.Whole() {
		n = 2500
	}
	for i := range n {
		text := boundedKernel(r)
		after := parse(t, text).Funcs[0]
		blocks := len(after.Blocks)
		versionKernel(after, &Options{})
		if len(after.Blocks) == blocks {
			continue
		}
		before := parse(t, text).Funcs[0]
		applied++
		if err := ir.Verify(after); err != nil {
			t.Fatalf("kernel %d: %v\n%v", i, err, after)
		}
		if applied%8 == 0 {
			runsAsClaimed(t, after, rand.New(rand.NewPCG(12, uint64(i))))
		}
		for range 60 {
			seed := r.Uint64()
			want, err := runBounded(before, seed)
			if err != nil {
				continue // it runs for too long
			}
			got, err := runBounded(after, seed)
			if err != nil {
				t.Fatalf("kernel %d, seed %d: %v; should be %+v\nbefore: %v\nafter: %v", i, seed, err, want, before, after)
			}
			if want != got {
				t.Fatalf("kernel %d, seed %d: (-want +got)\n%s\nbefore: %v\nafter: %v", i, seed, cmp.Diff(want, got, cmp.AllowUnexported(outcome{})), before, after)
			}
			if want.fault == "" && strings.Trim(want.memory, "\x00") != "" {
				fast++
			}
		}
	}
	if applied < 200*n/2500 || fast < 1000*n/2500 {
		t.Errorf("%d kernels have bounds, and %d threads stored something", applied, fast)
	}
}

// boundedKernel returns a kernel that stores at two random indices after random guards, in a loop or not.
func boundedKernel(r *rand.Rand) string {
	k := &randomBounds{r: r, next: 30}
	narrow := [2]string{"", " narrow"}[r.IntN(2)]
	k.line("kernel k(%%0 ptr.global @0, %%1 i64 @8, %%2 i64 @16, %%3 i64 @24, %%4 i64 @32) bytes 40 block %d %d 1%s {", 1+r.IntN(3), 1+r.IntN(3), narrow)
	k.line("b0:")
	k.line("\t%%5 = const i64 0\n\t%%6 = const i64 1\n\t%%7 = const i32 7\n\t%%8 = const i64 -1\n\t%%9 = const i64 2")
	for axis := range 2 {
		k.line("\t%%%d = ctaid i32 {%d}\n\t%%%d = zext i64 %%%[1]d", 10+axis, axis, 12+axis)
		k.line("\t%%%d = tid i32 {%d}\n\t%%%d = zext i64 %%%[1]d", 14+axis, axis, 16+axis)
		k.line("\t%%%d = const i64 %d\n\t%%%d = mul i64 %%%d, %%%d", 18+axis, 1+r.IntN(3), 20+axis, 12+axis, 18+axis)
		k.line("\t%%%d = add i64 %%%d, %%%d", 22+axis, 20+axis, 16+axis)
	}
	k.line("\t%%24 = add i64 %%3, %%8\n\t%%25 = add i64 %%4, %%8\n\t%%26 = slt i1 %%5, %%3")
	others := []int{k.clamp(), k.clamp(), k.choice(), k.choice()}
	r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	guard := 26
	for range 2 + r.IntN(5) {
		guard = k.value("and i1 %%%d, %%%d", guard, k.comparison())
	}
	k.line("\tif %%%d b1 b2\nb1: <- b0%s", guard, k.loop())
	k.factors = append(others[:r.IntN(3)], 22, 23, 3, 4)
	if k.looped {
		k.line("\t%%27 = phi i64 %%5, %%28")
		k.line("\t%%500 = phi i64 %%%d, %%501", []int{5, 6, 22, 3, 24, others[0]}[r.IntN(6)])
		k.factors = append(k.factors, 27, 500)
	}
	for range 2 {
		index := k.polynomial()
		c := k.value("ult i1 %%%d, %%1", index)
		k.line("\tcheck %%%d, %%%d, %%1 \"index out of range [%%d] with length %%d\"(int64, int64)", c, index)
		k.line("\tstore %%%d, %%7", k.value("index ptr.global %%0, %%%d {4}", index))
	}
	if k.looped {
		k.line("\t%%501 = add i64 %%500, %%%d", []int{3, 4, 6, 9, 24, 22}[r.IntN(6)])
		k.line("\t%%28 = add i64 %%27, %%%d\n\t%%29 = slt i1 %%28, %%3\n\tif %%29 b1 b2", 6+r.IntN(2)*3)
		k.line("b2: <- b0 b1\n\tret\n}")
	} else {
		k.line("\tjump b2\nb2: <- b0 b1\n\tret\n}")
	}
	return k.text.String()
}

type randomBounds struct {
	r       *rand.Rand
	text    strings.Builder
	next    int
	looped  bool
	factors []int
}

func (k *randomBounds) line(format string, args ...any) { fmt.Fprintf(&k.text, format+"\n", args...) }

// value adds a line that defines a value, and returns its number.
func (k *randomBounds) value(format string, args ...any) int {
	k.next++
	k.line(fmt.Sprintf("\t%%%%%d = ", k.next)+format, args...)
	return k.next
}

func (k *randomBounds) loop() string {
	if k.looped = k.r.IntN(3) == 0; k.looped {
		return " b1"
	}
	return ""
}

// clamp brings the place of a thread, moved by one, between zero and one less than a parameter.
func (k *randomBounds) clamp() int {
	v, limit := k.value("add i64 %%%d, %%%d", 22+k.r.IntN(2), []int{6, 8}[k.r.IntN(2)]), 24+k.r.IntN(2)
	below := func() {
		v = k.value("select i64 %%%d, %%%d, %%%d", k.value("slt i1 %%%d, %%%d", limit, v), limit, v)
	}
	negative := k.r.IntN(2) == 0
	if !negative {
		below()
	}
	v = k.value("select i64 %%%d, %%5, %%%d", k.value("slt i1 %%%d, %%5", v), v)
	if negative {
		below()
	}
	return v
}

// choice is the place of a thread, or a neighbour of it if a comparison holds.
func (k *randomBounds) choice() int {
	v := 22 + k.r.IntN(2)
	beside := k.value("%s i64 %%%d, %%%d", []string{"add", "sub", "mul"}[k.r.IntN(3)], v, []int{6, 8, 3, 4}[k.r.IntN(4)])
	if k.r.IntN(2) == 0 {
		v, beside = beside, v
	}
	return k.value("select i64 %%%d, %%%d, %%%d", k.comparison(), v, beside)
}

// comparison compares x or y with n, m, one less, or zero.
func (k *randomBounds) comparison() int {
	v, limit := 22+k.r.IntN(2), []int{3, 4, 3, 4, 24, 25}[k.r.IntN(6)]
	switch k.r.IntN(7) {
	case 6:
		return k.value("slt i1 %%5, %%%d", v)
	case 0:
		return k.value("ne i1 %%%d, %%5", v)
	case 1:
		return k.value("ne i1 %%%d, %%%d", v, limit)
	case 2:
		return k.value("ult i1 %%%d, %%%d", v, limit)
	}
	return k.value("slt i1 %%%d, %%%d", v, limit)
}

// polynomial adds up to four products of up to three factors.
func (k *randomBounds) polynomial() int {
	sum := k.value("const i64 %d", []int{0, 0, 0, 1, -1, 3}[k.r.IntN(6)])
	for range 1 + k.r.IntN(4) {
		product := k.factors[k.r.IntN(len(k.factors))]
		for range k.r.IntN(3) {
			product = k.value("mul i64 %%%d, %%%d", product, k.factors[k.r.IntN(len(k.factors))])
		}
		sum = k.value("%s i64 %%%d, %%%d", []string{"add", "add", "add", "add", "sub"}[k.r.IntN(5)], sum, product)
	}
	return sum
}

// runBounded runs one thread of a kernel, on a slice that is often as long as a product of its numbers.
func runBounded(f *ir.Func, seed uint64) (outcome, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	m := newMachine(usual)
	var tid, ctaid, ntid, nctaid [3]uint32
	for axis := range 3 {
		ntid[axis], nctaid[axis] = uint32(f.Block[axis]), 1+r.Uint32N(3)
		tid[axis], ctaid[axis] = r.Uint32N(ntid[axis]), r.Uint32N(nctaid[axis])
	}
	m.ids[ir.OpTid], m.ids[ir.OpCtaid], m.ids[ir.OpNTid], m.ids[ir.OpNCtaid] = tid, ctaid, ntid, nctaid
	number := func() int64 {
		large := []int64{-1, -5, 1 << 16, 1 << 19, 1<<19 - 1, 1 << 20, 1 << 22, 1<<31 - 1, 1 << 32, 3037000500, 1 << 62, 1<<63 - 1}
		n := r.Int64N(8)
		if r.IntN(4) == 0 {
			n = large[r.IntN(len(large))]
		}
		if f.Narrow {
			n = int64(int32(n))
		}
		return n
	}
	a, b := number(), number()
	length := []int64{a * a, a * b, a * a * a, a*b + r.Int64N(20), r.Int64N(300), a*b - 1, a*a*b + b}[r.IntN(7)]
	length = min(max(length, 0), 4000)
	x := m.alloc(4*length, paramAlign)
	return m.run(f, []datum{{bits: x}, {bits: uint64(length)}, {bits: uint64(length)}, {bits: uint64(a)}, {bits: uint64(b)}})
}
