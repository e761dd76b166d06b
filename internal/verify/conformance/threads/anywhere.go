package threads

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// counted are the types of numbers that are changed anywhere, and masked those whose bits are.
type (
	counted interface {
		int8 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
	}
	masked interface{ uint8 | int16 | int32 | uint64 }
)

// anywhere is a number after each atomic operation on it, and the sum of what the operations returned.
type anywhere[T any] struct {
	Add, Sub, Min, Max, Exchange, Swap, Refused, Store, Load T

	OldValues T
}

// bitsAnywhere is likewise.
type bitsAnywhere[T any] struct{ And, Or, Xor, OldBits T }

// changeAnywhere changes numbers through a pointer of which the compiler does not know whether it is to a variable of the thread, to shared or to global
// memory. The results of some operations are not needed.
//
//gpu:kernel
//gpu:block 48
//gpu:instance changeAnywhere[int8|uint16|int32|uint32|int64|uint64|float32|float64]
func changeAnywhere[T counted](t gpu.Thread, in []T, out []anywhere[T]) {
	i, numbers := t.GlobalX(), gpu.Shared[[48]T](t)
	own, r := in[i], &out[i]
	numbers[t.ThreadX()] = own
	p := [3]*T{&own, &numbers[t.ThreadX()], &in[i]}[i%3]
	v, old := *p, T(0)
	gpu.AtomicAdd(p, 3)
	old += gpu.AtomicAdd(p, v)
	r.Add = *p
	gpu.AtomicSub(p, 2)
	r.Sub = *p
	gpu.AtomicMin(p, v)
	old += gpu.AtomicMin(p, 40)
	r.Min = *p
	gpu.AtomicMax(p, 11)
	old += gpu.AtomicMax(p, v+1)
	r.Max = *p
	old += gpu.AtomicExchange(p, v+2)
	r.Exchange = *p
	was, done := gpu.AtomicCompareAndSwap(p, v+2, 5)
	r.Swap = *p
	if done {
		old += was
	}
	was, done = gpu.AtomicCompareAndSwap(p, 6, 7)
	r.Refused = *p
	if !done {
		old += was
	}
	gpu.AtomicStore(p, v+9)
	r.Store = *p
	r.Load = gpu.AtomicLoad(p)
	r.OldValues = old
}

// changeBitsAnywhere is likewise.
//
//gpu:kernel
//gpu:block 48
//gpu:instance changeBitsAnywhere[uint8|int16|int32|uint64]
func changeBitsAnywhere[T masked](t gpu.Thread, in []T, out []bitsAnywhere[T]) {
	i, numbers := t.GlobalX(), gpu.Shared[[48]T](t)
	own, r := in[i], &out[i]
	numbers[t.ThreadX()] = own
	p := [3]*T{&own, &numbers[t.ThreadX()], &in[i]}[i%3]
	v, old := *p, T(0)
	gpu.AtomicAnd(p, 0x55)
	old += gpu.AtomicAnd(p, v|3)
	r.And = *p
	gpu.AtomicOr(p, v<<1)
	old += gpu.AtomicOr(p, 0x40)
	r.Or = *p
	gpu.AtomicXor(p, 0x2a)
	old += gpu.AtomicXor(p, v)
	r.Xor = *p
	r.OldBits = old
}

// numbersOf returns n numbers of a type from -12 to 37, or without a sign.
func numbersOf[T gpu.AtomicNumber](n int) []T {
	x := make([]T, n)
	for i, v := range numbers(n) {
		x[i] = T(v%50 - 12)
	}
	return x
}

// anywhereCase runs an instance of changeAnywhere.
func anywhereCase[T counted](r *check.Run) {
	in := numbersOf[T](96)
	out := check.Make[anywhere[T]](r, len(in))
	r.Launch(ChangeAnywhere(r.Stream, device.Blocks{X: len(in) / 48}, check.Upload(r, in...), out))
	got := check.Get(r, out)
	for i, v := range in {
		want := anywhere[T]{Add: v + 3 + v, Exchange: v + 2, Swap: 5, Refused: 5, Store: v + 9, Load: v + 9}
		want.Sub = want.Add - 2
		low := min(want.Sub, v)
		want.Min = min(low, 40)
		high := max(want.Min, 11)
		want.Max = max(high, v+1)
		want.OldValues = v + 3 + low + high + want.Max + v + 2 + 5
		check.Compare(r, fmt.Sprintf("thread %d", i), got[i], want)
	}
}

// bitsAnywhereCase runs an instance of changeBitsAnywhere.
func bitsAnywhereCase[T masked](r *check.Run) {
	in := numbersOf[T](96)
	out := check.Make[bitsAnywhere[T]](r, len(in))
	r.Launch(ChangeBitsAnywhere(r.Stream, device.Blocks{X: len(in) / 48}, check.Upload(r, in...), out))
	got := check.Get(r, out)
	for i, v := range in {
		and := v & 0x55
		or := and&(v|3) | v<<1
		xor := (or | 0x40) ^ 0x2a
		want := bitsAnywhere[T]{And: and & (v | 3), Or: or | 0x40, Xor: xor ^ v, OldBits: and + or + xor}
		check.Compare(r, fmt.Sprintf("thread %d", i), got[i], want)
	}
}
