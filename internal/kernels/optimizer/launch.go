package optimizer

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// ErrShape is the error of operands of different lengths.
var ErrShape = errors.New("optimizer: lengths do not fit")

const threads = 256 // of a block

// Element is the type of derivatives, and of the copy of the parameters.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

// Operands are arrays with an element for each parameter.
type Operands[T Element] struct {
	Master device.Slice[float32] // the parameters
	First  device.Slice[float32] // AdamW's means of derivatives, or the velocities of SGD, which begin at 0
	Second device.Slice[float32] // AdamW's means of squares of derivatives, which begin at 0
	Grad   device.Slice[T]       // the derivatives, which become 0
	Copy   device.Slice[T]       // becomes the parameters, rounded to T; optional
	Factor device.Slice[float32] // of Clip; optional
}

// optional returns x, or the argument for no slice.
func optional[T any](x device.Slice[T]) device.Slice[T] {
	if x.Len() == 0 {
		return device.None[T]()
	}
	return x
}

// check reports whether lengths fit, of which moments have the given ones.
func (x *Operands[T]) check(moments ...int) error {
	n := x.Master.Len()
	fits := x.Grad.Len() == n && (x.Copy.Len() == n || x.Copy.Len() == 0) && (x.Factor.Len() == 2 || x.Factor.Len() == 0)
	for _, m := range moments {
		fits = fits && m == n
	}
	if !fits {
		return fmt.Errorf("%w: Master has %d elements, moments %v, Grad %d, Copy %d, Factor %d", ErrShape, n, moments, x.Grad.Len(), x.Copy.Len(), x.Factor.Len())
	}
	return nil
}

// Adam is the numbers of a step of AdamW. Decay is per unit of Rate. Steps are numbered from 1.
type Adam struct {
	Rate, Beta1, Beta2, Epsilon, Decay float64
	Step                               int
}

// rates returns the numbers for the kernel.
func (a Adam) rates(multiplying bool) rates {
	step := float64(a.Step)
	return rates{
		Keep: float32(1 - a.Rate*a.Decay), Size: float32(a.Rate / (1 - math.Pow(a.Beta1, step))),
		Beta1: float32(a.Beta1), Rest1: float32(1 - a.Beta1), Beta2: float32(a.Beta2), Rest2: float32(1 - a.Beta2),
		Root: float32(1 / math.Sqrt(1-math.Pow(a.Beta2, step))), Epsilon: float32(a.Epsilon), Multiplying: multiplying,
	}
}

//gpu:instance adamW32 = adamW[float32, row.F32]
//gpu:instance adamWBF16 = adamW[dtype.BF16, row.BF16]

// AdamW is a step of Adam with decoupled weight decay (Loshchilov and Hutter, "Decoupled Weight Decay Regularization").
func AdamW[T Element](s *device.Stream, a Adam, x Operands[T]) error {
	return x.adamW(s, row.FormFor(s), a)
}

// adamW is AdamW in a form. The Wide form is for aligned arrays of a multiple of four parameters; for others the Plain form runs.
func (x Operands[T]) adamW(s *device.Stream, form row.Form, a Adam) error {
	n := x.Master.Len()
	if err := x.check(x.First.Len(), x.Second.Len()); err != nil || n == 0 {
		return err
	}
	r := a.rates(x.Factor.Len() > 0)
	if form == row.Wide && row.Fits(n, x.Master, x.First, x.Second) && x.Grad.Aligned(row.VectorBytes) && x.Copy.Aligned(row.VectorBytes) {
		return x.wide(s, r)
	}
	return x.plain(s, r)
}

// plain launches the Plain form.
func (x Operands[T]) plain(s *device.Stream, r rates) error {
	grid := device.Cover(x.Master.Len(), threads)
	switch x := any(x).(type) {
	case Operands[float32]:
		return adamW32(s, grid, x.Master, x.First, x.Second, x.Grad, optional(x.Copy), optional(x.Factor), r)
	case Operands[dtype.BF16]:
		return adamWBF16(s, grid, x.Master, x.First, x.Second, x.Grad, optional(x.Copy), optional(x.Factor), r)
	}
	panic("BUG: optimizer: no such element type")
}

//gpu:instance wide32 = wideAdamW[float32, row.F32]
//gpu:instance wideBF16 = wideAdamW[dtype.BF16, row.BF16]

// wide launches the Wide form.
func (x Operands[T]) wide(s *device.Stream, r rates) error {
	grid := device.Blocks{X: (x.Master.Len()/4 + threads - 1) / threads}
	master, first, second := device.View[[4]float32](x.Master), device.View[[4]float32](x.First), device.View[[4]float32](x.Second)
	switch x := any(x).(type) {
	case Operands[float32]:
		four := device.View[[4]float32, float32]
		return wide32(s, grid, master, first, second, four(x.Grad), optional(four(x.Copy)), optional(x.Factor), r)
	case Operands[dtype.BF16]:
		four := device.View[[4]dtype.BF16, dtype.BF16]
		return wideBF16(s, grid, master, first, second, four(x.Grad), optional(four(x.Copy)), optional(x.Factor), r)
	}
	panic("BUG: optimizer: no such element type")
}

// Descent is the numbers of a step of stochastic gradient descent.
type Descent struct{ Rate, Momentum, Decay float64 }

//gpu:instance sgd32 = sgd[float32, row.F32]
//gpu:instance sgdBF16 = sgd[dtype.BF16, row.BF16]

// SGD is a step of stochastic gradient descent with momentum: the velocity becomes Momentum times itself plus the derivative, to which Decay
// times the parameter is added, and the parameter loses Rate times the velocity.
func SGD[T Element](s *device.Stream, d Descent, x Operands[T]) error {
	n := x.Master.Len()
	if err := x.check(x.First.Len()); err != nil || n == 0 {
		return err
	}
	p := paces{Rate: float32(d.Rate), Momentum: float32(d.Momentum), Decay: float32(d.Decay), Multiplying: x.Factor.Len() > 0}
	grid := device.Cover(n, threads)
	switch x := any(x).(type) {
	case Operands[float32]:
		return sgd32(s, grid, x.Master, x.First, x.Grad, optional(x.Copy), optional(x.Factor), p)
	case Operands[dtype.BF16]:
		return sgdBF16(s, grid, x.Master, x.First, x.Grad, optional(x.Copy), optional(x.Factor), p)
	}
	panic("BUG: optimizer: no such element type")
}

// Clipping is the operands of Clip.
type Clipping[T Element] struct {
	Limit     float32               // of the norm; 0 for none
	Grad      device.Slice[T]       // the derivatives
	Workspace device.Slice[float32] // of Workspace(Grad.Len()) elements
	Factor    device.Slice[float32] // becomes the factor and the norm
}

// Workspace returns the length of the workspace for n derivatives: the number of sums that are computed at the same time.
func Workspace(n int) int {
	const perSum, most = 16, 1 << 17
	return min(max((n/perSum+threads-1)/threads, 1)*threads, most)
}

//gpu:instance squares32 = squares[float32, row.F32]
//gpu:instance squaresBF16 = squares[dtype.BF16, row.BF16]

// Clip computes the norm of all derivatives, and the factor by which AdamW and SGD multiply them so that their norm is at most Limit
// (Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks").
func Clip[T Element](s *device.Stream, c Clipping[T]) error {
	if c.Workspace.Len() != Workspace(c.Grad.Len()) || c.Factor.Len() != 2 {
		return fmt.Errorf("%w: Grad has %d elements, Workspace %d, Factor %d", ErrShape, c.Grad.Len(), c.Workspace.Len(), c.Factor.Len())
	}
	if err := sumSquares(s, c.Grad, c.Workspace, false); err != nil {
		return err
	}
	return Finish(s, device.Blocks{X: 1}, c.Workspace, c.Factor, c.Limit)
}

// Norm computes the norm of all derivatives of several arrays together. The Workspace is of Workspace(n) elements for any n; one for the number of all
// derivatives is the fastest. Factor becomes 1 and the norm.
func Norm[T Element](s *device.Stream, grads []device.Slice[T], workspace, factor device.Slice[float32]) error {
	if factor.Len() != 2 {
		return fmt.Errorf("%w: Factor has %d elements", ErrShape, factor.Len())
	}
	for i, g := range grads {
		if err := sumSquares(s, g, workspace, i > 0); err != nil {
			return err
		}
	}
	return Finish(s, device.Blocks{X: 1}, workspace, factor, 0)
}

// sumSquares launches squares.
func sumSquares[T Element](s *device.Stream, grad device.Slice[T], sums device.Slice[float32], adding bool) error {
	grid := device.Cover(sums.Len(), threads)
	switch grad := any(grad).(type) {
	case device.Slice[float32]:
		return squares32(s, grid, grad, sums, adding)
	case device.Slice[dtype.BF16]:
		return squaresBF16(s, grid, grad, sums, adding)
	}
	panic("BUG: optimizer: no such element type")
}
