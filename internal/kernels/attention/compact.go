package attention

import (
	"cmp"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Compact is a Cache of numbers of 8 bits. A key or a value of a head has a scale, by which all its elements are multiplied: such that the
// largest element is 448, the largest number of the format. So an element has 4 bits of precision, whatever the size of keys and values,
// and elements that are less than 2^-15 of the largest one become 0. Scales are at least 2^-14; those of keys are at most 65504, and those
// of values at most 128: larger elements saturate. A key or value with a NaN or an infinity has a scale of NaN, which makes the results that
// depend on it NaN.
//
// Queries are bfloat16 on GPUs, which multiply float16 numbers on tensor cores, and float32 on CPUs: see Compacts. A query's elements beyond
// 65504 become infinite on GPUs.
type Compact[T Element] struct {
	CacheShape
	Keys   device.Slice[dtype.F8E4M3] // of the size and in the order of those of a Cache
	Values device.Slice[dtype.F8E4M3]
	Scales device.Slice[dtype.F16] // [Pages][KeyHeads][2][PageTokens]: those of keys, then those of values
	Table  device.Slice[int32]

	// Wide is a Cache of the same shape whose pages Prefill overwrites, and on a CPU also Attend: with the numbers of the pages that queries
	// see. Keys and Values have been written before. Several caches may share them, but not at the same time.
	Wide Cache[T]
}

// The limits of scales.
const (
	leastScale      = 0x1p-14
	mostKeyScale    = 65504
	mostValueScale  = 128 // so that float16 numbers of weights times values do not overflow
	largestElement  = 448
	compactExponent = 256 // an element is 256 times the float16 number that begins with its bits
)

// ScalesLen returns the number of elements of Compact.Scales.
func (s CacheShape) ScalesLen() int { return s.Pages * s.KeyHeads * 2 * PageTokens }

// Compacts reports whether a stream's device has kernels for a Compact with heads of a size: CPUs for float32, and GPUs of compute capability
// 8.0 or later for bfloat16 and heads of 64 or 128 elements.
func Compacts[T Element](s *device.Stream, dim int) bool {
	if Transposed(s) {
		return row.Elements[T]() == 4
	}
	return row.Elements[T]() == 8 && (dim == 64 || dim == 128) && s.Device().Info().Capability.Major >= 8
}

// check returns ErrShape with an explanation if the slices do not have the shape, or if there is no kernel.
func (c Compact[T]) check(s *device.Stream) error {
	if err := c.CacheShape.check([...]int{c.Keys.Len(), c.Values.Len(), c.Table.Len()}); err != nil {
		return err
	}
	if err := c.Wide.check(); err != nil {
		return err
	}
	if c.Scales.Len() != c.ScalesLen() || c.Wide.CacheShape != c.CacheShape || !Compacts[T](s, c.Dim) {
		return fmt.Errorf("attention: compact cache of %+v with %d scales on %v: %w", c.CacheShape, c.Scales.Len(), s.Device().Info().Name, ErrShape)
	}
	return nil
}

// Store is Cache.Store.
func (c Compact[T]) Store(s *device.Stream, x New[T]) error {
	if err := c.check(s); err != nil {
		return err
	}
	if err := takes(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	t := Turn[T]{K: x.K, V: x.V, Tokens: x.Tokens, Q: device.None[T](), Rotated: device.None[T](), Angles: device.None[float32]()}
	return c.storeTurned(s, t, turning{Stride: uint32(c.KeyHeads * c.Dim)})
}

// StoreRotated is Cache.StoreRotated.
func (c Compact[T]) StoreRotated(s *device.Stream, x Turn[T]) error {
	if err := c.check(s); err != nil {
		return err
	}
	if err := fits(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	return c.storeTurned(s, x, turningOf(c.CacheShape, x))
}

// Attend is Cache.Attend. Products of weights and values are those of float16 numbers on GPUs, which round weights to 11 bits.
func (c Compact[T]) Attend(s *device.Stream, x Queries[T]) error {
	if err := c.check(s); err != nil {
		return err
	}
	if err := asked(c.CacheShape, x); err != nil || x.Tokens.Len() == 0 {
		return err
	}
	if Transposed(s) {
		if err := c.widenLanes(s, x.Tokens); err != nil {
			return err
		}
		return c.Wide.Attend(s, x)
	}
	return c.decode(s, any(x).(Queries[dtype.BF16]), [2]device.Slice[dtype.BF16]{})
}

// TakesNew reports whether AttendNew has a kernel for a number of heads of queries: on GPUs, if up to eight share the keys and values of one, so
// that one block has them all.
func (c Compact[T]) TakesNew(heads int) bool {
	return row.Elements[T]() == 8 && heads/c.KeyHeads <= tileHeads
}

// AttendNew is Store of the key and value of one token, followed by Attend of its query, in one kernel. The key and value are those of the
// first token of the first page of Wide. The error is ErrShape unless TakesNew returns true.
func (c Compact[T]) AttendNew(s *device.Stream, x Queries[T]) error {
	if err := c.check(s); err != nil {
		return err
	}
	wide, ok := any(c.Wide).(Cache[dtype.BF16])
	if err := asked(c.CacheShape, x); err != nil || x.Tokens.Len() != 1 || !ok || !c.TakesNew(x.Heads) {
		return cmp.Or(err, fmt.Errorf("attention: new keys and values of %d tokens and %+v: %w", x.Tokens.Len(), c.CacheShape, ErrShape))
	}
	return c.decode(s, any(x).(Queries[dtype.BF16]), [2]device.Slice[dtype.BF16]{wide.Keys, wide.Values})
}

// Prefill is Cache.Prefill: it converts all pages that queries see to elements of Wide.
func (c Compact[T]) Prefill(s *device.Stream, x Chunk[T]) error {
	if err := c.check(s); err != nil {
		return err
	}
	if Transposed(s) {
		return c.Attend(s, Queries[T]{Heads: x.Heads, Q: x.Q, O: x.O, Tokens: x.Tokens})
	}
	if x.Spans.Len() > 0 {
		if err := c.widenSpans(s, x.Spans); err != nil {
			return err
		}
	}
	return c.Wide.Prefill(s, x)
}

//gpu:instance decodeCompact = decodeEight[compact64|compact128]

// decode attends on a GPU, and stores new keys and values before if there are some.
func (c Compact[T]) decode(s *device.Stream, x Queries[dtype.BF16], fresh [2]device.Slice[dtype.BF16]) error {
	d := decodedOf(c.CacheShape, c.Table, x)
	launch := decodeCompact[compact128]
	if c.Dim == 64 {
		launch = decodeCompact[compact64]
	}
	k, v := device.None[uint32](), device.None[uint32]()
	if fresh[0].Len() > 0 {
		k, v = pairs(fresh[0]), pairs(fresh[1])
	}
	e := device.View[[8]dtype.F16, dtype.F8E4M3]
	err := launch(s, d.ringed(), pairs(x.Q), k, v, e(c.Keys), e(c.Values), eight(c.Scales), c.Table, x.Tokens, d.decoding, d.sums, d.states, eight(x.O))
	if err != nil || d.grid.Z == 1 {
		return err
	}
	return join(s, d, x)
}
