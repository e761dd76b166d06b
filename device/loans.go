package device

import "fmt"

// maxLoans is how many slices one piece of work can use.
const maxLoans = 8

// Loans are the slices that a library uses for one piece of work on a stream, for packages that
// know the device's kind: a launcher is a Plan, a call of a vendor's library is this.
//
//	l := device.LoansOn(s)
//	x, y := device.Lend(&l, a), device.Lend(&l, b)
//	err := l.Enqueue(func() error { return cuda.Do(s, func(h cuda.Handle) error { ... }) })
//
// Lifetimes: the memory is not freed before Enqueue returns, and then behind the stream's work; a
// graph that the stream records keeps it. Enqueue is called once, whatever Lend returned.
type Loans struct {
	stream  *Stream
	checked bool // work asks Closed; nothing is pinned
	held    [maxLoans]*allocation
	n       int
	err     error
}

// LoansOn returns no loans yet, for work on s. It allocates nothing.
func LoansOn(s *Stream) Loans { return Loans{stream: s} }

// LoansChecked is LoansOn for work that calls Closed where it has the lock of the stream's queue, which
// is in cuda.Each: a slice that is closed before that is an error, and lending costs less.
func LoansChecked(s *Stream) Loans { return Loans{stream: s, checked: s.later != nil} }

// Closed returns an error where a buffer was closed after it was lent (see Plan.Closed).
func (l *Loans) Closed() error {
	for _, a := range l.held[:l.n] {
		if a.state.Load() < 0 {
			return fmt.Errorf("device: a buffer that a library uses %w", ErrClosed)
		}
	}
	return nil
}

// Lend adds a slice and returns where it is. Where the slice cannot be used, Enqueue returns
// the error.
func Lend[T any](l *Loans, x Slice[T]) uintptr {
	if l.err != nil {
		return 0
	}
	if l.n == maxLoans {
		panic(fmt.Sprintf("BUG: more than %d slices lent to one piece of work", maxLoans))
	}
	var address uintptr
	var err error
	switch {
	case !l.checked:
		address, err = x.pin(l.stream)
	case x.err != nil || x.from == nil:
		err = x.unfit()
	default:
		address, err = x.from.lend(l.stream)
		address += uintptr(x.offset)
	}
	if err != nil {
		l.err = fmt.Errorf("device: %w", err)
		return 0
	}
	l.held[l.n] = x.from
	l.n++
	return address
}

// Enqueue calls f, which enqueues the work, unless a slice or the stream is unfit. An error of
// either sticks to the stream.
func (l *Loans) Enqueue(f func() error) error {
	err := l.stream.check()
	if err == nil {
		if err = l.err; err == nil {
			err = f()
		}
		err = l.stream.keep(err)
	}
	for _, a := range l.held[:l.n] {
		if !l.checked {
			err = join(err, a.unpin())
		}
	}
	*l = Loans{stream: l.stream}
	return err
}
