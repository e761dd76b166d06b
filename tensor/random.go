package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/dropout"
	"github.com/gopherwarp/gopherwarp/prim"
)

// Seed sets the seed of the Scope's random numbers, which at first is 0. Different seeds give independent numbers: a program that trains
// sets another one for each step. The numbers depend on the seed and on the calls since then, and are the same on every device (Salmon et al.,
// "Parallel Random Numbers: As Easy as 1, 2, 3"). A stream that records a graph has none, because they would be the same at each launch.
func (s *Scope) Seed(seed uint64) { s.random = prim.Sequence{Seed: seed} }

// Uniform returns a tensor of floats with a uniform distribution in [0, 1). Those of 16 bits are rounded, also to 1.
func Uniform(s *Scope, of dtype.Type, shape ...int) *Tensor {
	return s.draw("Uniform", of, shape, func(out *Tensor, from prim.Sequence) error {
		if out.dtype == dtype.Float64 {
			return prim.Uniform(s.stream, elements[float64](out), from)
		}
		return prim.Uniform(s.stream, elements[float32](out), from)
	})
}

// Normal returns a tensor of floats with a normal distribution, of mean 0 and deviation 1.
func Normal(s *Scope, of dtype.Type, shape ...int) *Tensor {
	return s.draw("Normal", of, shape, func(out *Tensor, from prim.Sequence) error {
		if out.dtype == dtype.Float64 {
			return prim.Normal(s.stream, elements[float64](out), from, prim.Gaussian[float64]{Deviation: 1})
		}
		return prim.Normal(s.stream, elements[float32](out), from, prim.Gaussian[float32]{Deviation: 1})
	})
}

// Integers returns a tensor of int64 with a uniform distribution of the integers from low to high-1.
func Integers(s *Scope, low, high int64, shape ...int) *Tensor {
	const name = "Integers"
	if low >= high {
		return s.fail(mistake(name, fmt.Errorf("%w: integers from %d to %d-1", ErrValue, low, high)))
	}
	return s.drawn(name, dtype.Int64, shape, func(out *Tensor, from prim.Sequence) error {
		return prim.Integers(s.stream, elements[int64](out), from, prim.Range[int64]{Low: low, High: high - 1})
	})
}

// Bernoulli returns a tensor of bools, each of which is true with probability p.
func Bernoulli(s *Scope, p float64, shape ...int) *Tensor {
	const name = "Bernoulli"
	if !(p >= 0 && p <= 1) {
		return s.fail(mistake(name, fmt.Errorf("%w: a probability of %v", ErrValue, p)))
	}
	return s.Tidy(func() *Tensor { return Uniform(s, dtype.Float64, shape...).Less(s.full(name, p, dtype.Float64, nil)) })
}

// Dropout returns the elements of t, floats, each of which becomes 0 with probability rate and is otherwise multiplied by 1/(1-rate)
// (Srivastava et al., "Dropout"). It does so only in training, while the Scope records; at other times it returns t. See Scope.Seed for the
// choice of elements, which is the same when Checkpoint runs a function again.
func (t *Tensor) Dropout(rate float64) *Tensor {
	const name = "Dropout"
	s, err := scopeOf(name, []*Tensor{t})
	switch {
	case err != nil:
		return failed(s, err)
	case !isFloat(t.dtype):
		err = fmt.Errorf("%w: %v", ErrDType, t.dtype)
	case !(rate >= 0 && rate < 1):
		err = fmt.Errorf("%w: a rate of %v", ErrValue, rate)
	case s.training() && s.stream.Recording():
		err = errRepeated
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	if rate == 0 || !s.training() {
		return t
	}
	o := dropout.Options{Rate: rate, Seed: s.random.Seed, Stream: s.random.Offset}
	s.random.Offset++
	return s.dropout(t, o)
}

// dropout returns Dropout by the random numbers that the options determine.
func (s *Scope) dropout(t *Tensor, o dropout.Options) *Tensor {
	const name = "Dropout"
	var out *Tensor
	s.NoGrad(func() {
		out = s.Tidy(func() *Tensor {
			switch t.dtype {
			case dtype.Float32:
				return dropped[float32](s, t.Contiguous(), o)
			case dtype.BFloat16:
				return dropped[dtype.BF16](s, t.Contiguous(), o)
			}
			kept := dropped[float32](s, s.full(name, 1, dtype.Float32, t.shape), o)
			return Where(kept.To(dtype.Bool), t.Scale(1/(1-o.Rate)), s.zeros(name, t.dtype, nil))
		})
	})
	s.record(out, step{name: name, in: []*Tensor{t}, back: func(d *Derivative) []*Tensor { return []*Tensor{s.dropout(d.Grad, o)} }})
	return out
}

// dropped launches the kernel on a contiguous tensor.
func dropped[T interface {
	Element
	dropout.Element
}](s *Scope, t *Tensor, o dropout.Options) *Tensor {
	const name = "Dropout"
	if t.err != nil {
		return t
	}
	out := s.empty(name, t.dtype, t.shape)
	if out.err != nil {
		return out
	}
	if err := dropout.Apply(s.stream, o, elements[T](t), elements[T](out)); err != nil {
		return s.fail(mistake(name, err))
	}
	return out
}

// errRepeated is the cause of a mistake.
var errRepeated = fmt.Errorf("%w: random numbers of a graph would be the same at each launch", ErrRecord)

// draw returns random floats, which fill draws as float32 or float64.
func (s *Scope) draw(name string, of dtype.Type, shape []int, fill func(out *Tensor, from prim.Sequence) error) *Tensor {
	switch {
	case !isFloat(of):
		return s.fail(mistake(name, fmt.Errorf("%w: %v", ErrDType, of)))
	case of == dtype.Float64:
		return s.drawn(name, of, shape, fill)
	}
	return s.drawn(name, dtype.Float32, shape, fill).To(of)
}

// drawn returns random numbers.
func (s *Scope) drawn(name string, of dtype.Type, shape []int, fill func(out *Tensor, from prim.Sequence) error) *Tensor {
	if err := s.check(name); err != nil {
		return s.fail(err)
	}
	if s.stream.Recording() {
		return s.fail(mistake(name, errRepeated))
	}
	out := s.empty(name, of, shape)
	if out.err != nil {
		return out
	}
	if err := fill(out, s.random); err != nil {
		return s.fail(mistake(name, err))
	}
	s.random.Offset += uint64(out.Len())
	return out
}
