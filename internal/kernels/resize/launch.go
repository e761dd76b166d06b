package resize

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
)

// ErrShape is the error of operands that do not fit each other.
var ErrShape = errors.New("resize: operands do not fit")

// Windows are the source pixels of each of Side results along an axis.
type Windows struct {
	Begin, Count int // the source pixels that are needed
	Taps         int // the largest number of source pixels of a result
	// Table has the number of the first source pixel of each result, counted from Begin, and then, for each tap, the weight of the next pixel
	// for each result, in units of 2^-Fraction. Weights of pixels that do not count are 0.
	Table device.Slice[int32]
}

// Picture is the source: pixel i along the first axis and j along the second one is at i*Along + j*Across. A pixel has red, green and
// blue in its lowest bytes.
type Picture struct {
	Pixels        device.Slice[uint32]
	Along, Across int
}

// Operands are the arguments of Square.
type Operands struct {
	Picture
	First, Second Windows              // of the axis that is resized first, and of the other one
	Lines         device.Slice[uint32] // scratch: Side elements for each pixel of the second axis that is needed
	Out           device.Slice[float32]
	Down, Right   int // pixel i of the first axis and j of the second one becomes pixel j*Down + i*Right of Out
	Normalization
}

// check reports whether the operands fit each other.
func (x Operands) check() error {
	for _, w := range []Windows{x.First, x.Second} {
		if w.Begin < 0 || w.Count < 1 || w.Taps < 1 || w.Table.Len() != (w.Taps+1)*Side {
			return fmt.Errorf("%w: %d numbers for windows of %d pixels, of %d from number %d on", ErrShape, w.Table.Len(), w.Taps, w.Count, w.Begin)
		}
	}
	last := (x.First.Begin+x.First.Count-1)*x.Along + (x.Second.Begin+x.Second.Count-1)*x.Across
	switch {
	case min(x.Along, x.Across) < 1 || last >= x.Pixels.Len():
		return fmt.Errorf("%w: pixel %d of %d is needed", ErrShape, last, x.Pixels.Len())
	case x.Lines.Len() < x.Second.Count*Side:
		return fmt.Errorf("%w: %d elements for %d lines", ErrShape, x.Lines.Len(), x.Second.Count)
	case min(x.Down, x.Right) < 1 || (Side-1)*(x.Down+x.Right) >= x.Out.Len()/3:
		return fmt.Errorf("%w: %d elements for pixels that are %d and %d apart", ErrShape, x.Out.Len(), x.Down, x.Right)
	}
	return nil
}

// Square enqueues both passes.
func Square(s *device.Stream, x Operands) error {
	if err := x.check(); err != nil {
		return err
	}
	first, second := x.First, x.Second
	pixels := x.Pixels.Slice(first.Begin*x.Along+second.Begin*x.Across, x.Pixels.Len())
	if err := FirstPass(s, device.Blocks{X: second.Count}, x.Lines, pixels, first.Table, source{x.Along, x.Across, first.Count - 1, first.Taps}); err != nil {
		return err
	}
	return SecondPass(s, device.Blocks{X: Side}, x.Out, x.Lines, second.Table, source{Side, 1, second.Count - 1, second.Taps}, place{x.Down, x.Right, x.Normalization})
}
