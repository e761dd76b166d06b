package threads

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// small is an integer with less than 32 bits.
type small interface{ int8 | uint8 | int16 | uint16 }

// smallAtomics is memory that all threads change at once. Its fields share words.
type smallAtomics[T small] struct {
	Add, Sub, Min, Max, And, Or, Xor, Exchanged, Swapped, Stored, Loaded, Refused, ChainOfExchanges T

	InShared     [7]T
	OldValues    uint32
	InLocal      int32
	OrderedSwaps T
}

// changeSmall changes memory by every atomic operation.
//
//gpu:kernel
//gpu:block 48
//gpu:instance changeSmall[int8|uint8|int16|uint16]
func changeSmall[T small](t gpu.Thread, in, mixed []T, m []smallAtomics[T]) {
	i, k, p := t.GlobalX(), t.ThreadX(), &m[0]
	v := in[i]
	sums := gpu.Shared[[7]T](t)
	if k < len(sums) {
		sums[k] = 0
	}
	t.Sync()
	gpu.AtomicAdd(&sums[k%7], v, gpu.BlockScope)
	if old := gpu.AtomicAdd(&p.Add, 1); old >= 0 {
		gpu.AtomicAdd(&p.OldValues, uint32(old))
	}
	gpu.AtomicSub(&p.Sub, v)
	gpu.AtomicMin(&p.Min, v)
	gpu.AtomicMax(&p.Max, v, gpu.Sequential)
	gpu.AtomicAnd(&p.And, v|3)
	gpu.AtomicOr(&p.Or, v&12)
	gpu.AtomicXor(&p.Xor, v)
	gpu.AtomicAdd(&p.ChainOfExchanges, gpu.AtomicExchange(&p.Exchanged, v))
	for done := false; !done; {
		was := gpu.AtomicLoad(&p.Swapped)
		_, done = gpu.AtomicCompareAndSwap(&p.Swapped, was, was+v)
	}
	for was, done := T(0), false; !done; {
		if was, done = gpu.AtomicCompareAndSwap(&p.OrderedSwaps, was, was+3, gpu.AcquireRelease); !done {
			continue
		}
	}
	if was, swapped := gpu.AtomicCompareAndSwap(&p.Refused, 5, v); swapped || was != 6 {
		gpu.AtomicStore(&p.Refused, 99)
	}
	gpu.AtomicStore(&p.Stored, 77, gpu.Release, gpu.SystemScope)
	if i == 17 {
		p.Loaded = gpu.AtomicLoad(&m[1].Loaded, gpu.Acquire)
	}
	mixed[i*2] = v // the other half of the word is another thread's
	gpu.AtomicAdd(&mixed[(i*2+3)%len(mixed)], v)
	t.Sync()
	if k < len(sums) {
		gpu.AtomicAdd(&p.InShared[k], sums[k])
	}
	var own [3]T
	gpu.AtomicAdd(&own[i%3], v)
	gpu.AtomicMax(&own[(i+1)%3], T(bits.OnesCount8(uint8(v))))
	gpu.AtomicAdd(&p.InLocal, int32(own[i%3])-int32(own[(i+1)%3]))
}

// lastOf lets the block that comes last, by a counter of 8 or 16 bits, add up what the others left.
//
//gpu:kernel
//gpu:instance lastOf[uint8|int16]
func lastOf[T uint8 | int16](t gpu.Thread, done []T, parts, sum []int32) {
	parts[t.BlockX()] = int32(t.BlockX() + 5)
	if n := gpu.AtomicAdd(&done[1], 1, gpu.AcquireRelease); int(n) < t.GridDimX()-1 {
		return
	}
	gpu.AtomicStore(&done[2], 9, gpu.Release)
	for i := range t.GridDimX() {
		sum[0] += parts[i]
	}
}

// smallChanges returns what changeSmall leaves of m.
func smallChanges[T small](in []T, m smallAtomics[T]) smallAtomics[T] {
	total := T(0)
	for i, v := range in {
		if m.Add >= 0 {
			m.OldValues += uint32(m.Add)
		}
		m.Add++
		total += v
		m.Min, m.Max = min(m.Min, v), max(m.Max, v)
		m.And, m.Or, m.Xor = m.And&(v|3), m.Or|v&12, m.Xor^v
		m.InShared[i%48%7] += v
		m.InLocal += int32(v) - int32(max(0, T(bits.OnesCount8(uint8(v)))))
		m.OrderedSwaps += 3
	}
	m.Sub -= total
	m.Swapped += total
	m.ChainOfExchanges += m.Exchanged + total // but for the one that is there at the end
	m.Stored = 77
	return m
}

func smallAtomicsCase[T small](r *check.Run) {
	const n = 144
	in := make([]T, n)
	for i, v := range numbers(n) {
		in[i] = T(v*31 - 300)
	}
	start := []smallAtomics[T]{{Add: 120, Sub: 1, Min: 50, Max: 50, And: ^T(0), Exchanged: 9, Swapped: 4, Refused: 6, OrderedSwaps: 1}, {Loaded: 42}}
	mixed := make([]T, 2*n)
	for i, v := range in {
		mixed[i*2] = v
		mixed[(i*2+3)%len(mixed)] = v
	}
	there, beside := check.Upload(r, start...), check.Make[T](r, 2*n)
	r.Launch(ChangeSmall(r.Stream, device.Blocks{X: n / 48}, check.Upload(r, in...), beside, there))
	check.Want(r, beside, mixed...)
	got, want := check.Get(r, there)[0], smallChanges(in, start[0])
	want.Loaded = 42
	got.ChainOfExchanges += got.Exchanged
	got.Exchanged = want.Exchanged
	check.Compare(r, "memory", got, want)
}

func lastsOf[T uint8 | int16](r *check.Run) {
	done, sum := check.Make[T](r, 3), check.Make[int32](r, 1)
	r.Launch(LastOf(r.Stream, check.Blocks(100, 1), done, check.Make[int32](r, 100), sum))
	check.Want(r, done, 0, 100, 9)
	check.Want(r, sum, 100*99/2+500)
}
