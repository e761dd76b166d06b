package device

import "fmt"

// maxLoans is how many slices one piece of work can use.
const maxLoans = 8

// Loans are the slices that one call of a vendor's library uses on a stream. Loans are for packages
// that depend on the device's kind.
//
//	l := s.Loans()
//	x, y := a.Lend(&l), b.Lend(&l)
//	err := l.Enqueue(func() error { return cuda.Do(s, func(h cuda.Handle) error { ... }) })
//
// If a lent buffer is closed, its memory is freed only when Enqueue has returned and the stream's
// work is done. If the stream records a graph, the graph keeps the memory. Call Enqueue once, even
// if Lend returned 0.
type Loans struct {
	stream  *Stream
	checked bool // the work calls Closed; nothing is pinned
	held    [maxLoans]lease
	n       int
	err     error
}

// Loans returns empty Loans for work on s. It does not allocate.
func (s *Stream) Loans() Loans { return Loans{stream: s} }

// LoansChecked is like Loans, but if a lent buffer is closed before the work is enqueued, its memory may
// be freed at once. So Lend costs less. In return, the function passed to Enqueue must hold the
// lock of the stream's queue, call Closed, and enqueue no work if Closed returns an error. (A
// function passed to cuda.Each holds that lock.)
func (s *Stream) LoansChecked() Loans { return Loans{stream: s, checked: s.later != nil} }

// Closed returns an error if a lent buffer has been closed.
func (l *Loans) Closed() error {
	for _, a := range l.held[:l.n] {
		if a.closed() {
			return fmt.Errorf("device: a buffer that a library uses %w", ErrClosed)
		}
	}
	return nil
}

// Lend adds the slice to l and returns the slice's address. If the slice cannot be used, Lend
// returns 0 and Enqueue returns the error.
func (x Slice[T]) Lend(l *Loans) uintptr { return l.lend(span(x)) }

func (l *Loans) lend(x span) uintptr {
	if l.err != nil {
		return 0
	}
	if l.n == maxLoans {
		panic(fmt.Sprintf("BUG: more than %d slices lent to one piece of work", maxLoans))
	}
	var address uintptr
	var err error
	if !l.checked {
		address, err = x.pin(l.stream)
	} else if err = x.unfit(); err == nil {
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

// Enqueue calls f, which must enqueue the work. If a slice is invalid or the stream has failed,
// Enqueue returns an error and does not call f. An error of a slice or of f sticks to the stream
// (see Stream).
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
