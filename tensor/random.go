package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/dropout"
	"github.com/gopherwarp/gopherwarp/prim"
)

// Seed sets the seed of the Scope's random numbers. The initial seed is 0. In training, set a different seed for each step. The numbers depend
// only on the seed and on the calls since Seed, and are the same on every device (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
// 3"). Drawing random numbers for a graph is a mistake, because they would be the same at each launch.
func (s *Scope) Seed(seed uint64) { s.random = prim.Sequence{Seed: seed} }

// Uniform returns a tensor of random floats, uniformly distributed in [0, 1). F16 and BF16 numbers are rounded, possibly to 1. The mistake
// is ErrDType if the type is not a float type, and ErrShape for a negative size in the shape.
func Uniform(s *Scope, of dtype.Type, shape ...int) *Tensor {
	return s.draw("Uniform", of, shape, func(out *Tensor, from prim.Sequence) error {
		if out.dtype == dtype.Float64 {
			return prim.Uniform(s.stream, elements[float64](out), from)
		}
		return prim.Uniform(s.stream, elements[float32](out), from)
	})
}

// Normal returns a tensor of random floats, normally distributed with mean 0 and standard deviation 1. See Uniform for the mistakes.
func Normal(s *Scope, of dtype.Type, shape ...int) *Tensor {
	return s.draw("Normal", of, shape, func(out *Tensor, from prim.Sequence) error {
		if out.dtype == dtype.Float64 {
			return prim.Normal(s.stream, elements[float64](out), from, prim.Gaussian[float64]{Deviation: 1})
		}
		return prim.Normal(s.stream, elements[float32](out), from, prim.Gaussian[float32]{Deviation: 1})
	})
}

// Integers returns a tensor of random int64 numbers, uniformly distributed from low to high-1. The mistake is ErrValue if high is not
// greater than low.
func Integers(s *Scope, low, high int64, shape ...int) *Tensor {
	const name = "Integers"
	if low >= high {
		return s.fail(mistake(name, fmt.Errorf("%w: integers from %d to %d-1", ErrValue, low, high)))
	}
	return s.drawn(name, dtype.Int64, shape, func(out *Tensor, from prim.Sequence) error {
		return prim.Integers(s.stream, elements[int64](out), from, prim.Range[int64]{Low: low, High: high - 1})
	})
}

// Bernoulli returns a tensor of bools. Each element is true with probability p. The mistake is ErrValue if p is not between 0 and 1.
func Bernoulli(s *Scope, p float64, shape ...int) *Tensor {
	const name = "Bernoulli"
	if !(p >= 0 && p <= 1) {
		return s.fail(mistake(name, fmt.Errorf("%w: a probability of %v", ErrValue, p)))
	}
	return s.Tidy(func() *Tensor { return Uniform(s, dtype.Float64, shape...).Less(s.full(name, p, dtype.Float64, nil)) })
}

// Dropout sets each element of t, a tensor of floats, to 0 with probability rate, and multiplies the other elements by 1/(1-rate)
// (Srivastava et al., "Dropout"). It does so only in training, that is, while the Scope records. At other times it returns t. The Scope's
// random numbers choose the elements; see Scope.Seed. When Checkpoint runs a function again, Dropout chooses the same elements. The mistake
// is ErrValue for a rate outside [0, 1), and ErrDType if the elements are not floats.
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
	case s.Training() && s.stream.Recording():
		err = errRepeated
	}
	if err != nil {
		return s.fail(mistake(name, err))
	}
	if rate == 0 || !s.Training() {
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
