package nvml

import (
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// handle is the library's identifier of a device or of a set of events.
type handle uintptr

// calls are the library's functions, grouped by signature. A test can replace them. The first argument of
// each is the function's symbol. If an old library does not have the symbol, the call returns
// FunctionNotFound.
//
// Lifetimes: the variables that arguments point to are on the heap, because they escape through the
// function values, and stay alive until the call returns.
type calls struct {
	plain func(f string) Status
	// systemNumber is f(&out)
	systemNumber func(f string, out *uint32) Status
	number       func(f string, d handle, out *uint32) Status               // f(device, &out)
	pair         func(f string, d handle, first, second *uint32) Status     // f(device, &first, &second)
	chosen       func(f string, d handle, which uint32, out *uint32) Status // f(device, which, &out)
	wide         func(f string, d handle, out *uint64) Status               // f(device, &out)
	text         func(f string, d handle, buf []byte) Status                // f(device, buf, length), or f(buf, length) without a device
	device       func(f string, in uint32, out *handle) Status              // f(index, &device)
	part         func(f string, d handle, in uint32, out *handle) Status    // f(device, index, &device)
	record       func(f string, d handle, out unsafe.Pointer) Status        // f(device, &struct)
	list         func(f string, d handle, n *uint32, out unsafe.Pointer) Status
	process      func(f string, pid uint32, buf []byte) Status
	errors       func(f string, d handle, c eccCounter, out *uint64) Status // f(device, type, counter, &out)
	rows         func(f string, d handle, out *remapped) Status             // f(device, four numbers)
	fields       func(f string, d handle, values []fieldValue) Status       // f(device, length, values)
	events       func(f string, set handle, e wanted) Status                // f(device, types, set)
	create       func(f string, set *handle) Status                         // f(&set)
	release      func(f string, set handle) Status                          // f(set)
	samples      func(f string, d handle, w *samples) Status                // f(device, samples, &length, since)
	sample       func(f string, d handle, sample handle) Status             // f(device, sample)
	metrics      func(f string, m *gpmMetrics) Status                       // f(&struct)
	next         func(f string, set handle, w *wait) Status                 // f(set, &event, milliseconds)
}

// eccCounter selects a counter of memory errors.
type eccCounter struct{ kind, counter uint32 }

// wanted selects kinds of events of a device.
type wanted struct {
	device handle
	types  uint64
}

// wait holds the timeout and the result of a wait for an event.
type wait struct {
	milliseconds uint32
	event        eventData
}

// samples is a buffer for process samples, and the time in microseconds after which they must lie.
type samples struct {
	since  uint64
	n      uint32
	values [256]processSample
}

// bind returns the calls of a library.
func bind(lookup func(symbol string) (uintptr, error)) calls {
	l := &table{addresses: map[string]uintptr{}}
	for _, symbol := range symbols {
		if a, err := lookup(symbol); err == nil {
			l.addresses[symbol] = a
		}
	}
	return calls{
		plain:        func(f string) Status { return l.call(f) },
		systemNumber: l.systemNumber,
		number:       func(f string, d handle, out *uint32) Status { return l.call1(f, d, unsafe.Pointer(out)) },
		wide:         func(f string, d handle, out *uint64) Status { return l.call1(f, d, unsafe.Pointer(out)) },
		record:       func(f string, d handle, out unsafe.Pointer) Status { return l.call1(f, d, out) },
		pair:         l.pair,
		chosen:       l.chosen,
		text:         l.text,
		device:       func(f string, in uint32, out *handle) Status { return l.call1(f, handle(in), unsafe.Pointer(out)) },
		part:         l.part,
		list:         l.list,
		process:      l.process,
		errors:       l.errors,
		rows:         l.rows,
		fields:       l.fields,
		events: func(f string, set handle, e wanted) Status {
			return l.call(f, uintptr(e.device), uintptr(e.types), uintptr(set))
		},
		create:  l.create,
		release: func(f string, set handle) Status { return l.call(f, uintptr(set)) },
		samples: l.samples,
		next:    l.next,
		sample:  func(f string, d, sample handle) Status { return l.call(f, uintptr(d), uintptr(sample)) },
		metrics: l.metrics,
	}
}

// table holds the addresses of the functions that the library has.
type table struct{ addresses map[string]uintptr }

func (l *table) call(f string, args ...uintptr) Status {
	a, ok := l.addresses[f]
	if !ok {
		return FunctionNotFound
	}
	return Status(dl.Call(a, args...))
}

// call1 calls a function that takes a device and stores a result.
func (l *table) call1(f string, d handle, out unsafe.Pointer) Status {
	s := l.call(f, uintptr(d), uintptr(out))
	runtime.KeepAlive(out)
	return s
}

func (l *table) systemNumber(f string, out *uint32) Status {
	s := l.call(f, pointer(out))
	runtime.KeepAlive(out)
	return s
}

func (l *table) pair(f string, d handle, first, second *uint32) Status {
	s := l.call(f, uintptr(d), pointer(first), pointer(second))
	runtime.KeepAlive(first)
	runtime.KeepAlive(second)
	return s
}

func (l *table) chosen(f string, d handle, which uint32, out *uint32) Status {
	s := l.call(f, uintptr(d), uintptr(which), pointer(out))
	runtime.KeepAlive(out)
	return s
}

func (l *table) text(f string, d handle, buf []byte) Status {
	args := []uintptr{uintptr(d), pointer(&buf[0]), uintptr(len(buf))}
	if d == 0 {
		args = args[1:]
	}
	s := l.call(f, args...)
	runtime.KeepAlive(buf)
	return s
}

func (l *table) part(f string, d handle, in uint32, out *handle) Status {
	s := l.call(f, uintptr(d), uintptr(in), pointer(out))
	runtime.KeepAlive(out)
	return s
}

func (l *table) list(f string, d handle, n *uint32, out unsafe.Pointer) Status {
	s := l.call(f, uintptr(d), pointer(n), uintptr(out))
	runtime.KeepAlive(n)
	runtime.KeepAlive(out)
	return s
}

func (l *table) process(f string, pid uint32, buf []byte) Status {
	s := l.call(f, uintptr(pid), pointer(&buf[0]), uintptr(len(buf)))
	runtime.KeepAlive(buf)
	return s
}

func (l *table) errors(f string, d handle, c eccCounter, out *uint64) Status {
	s := l.call(f, uintptr(d), uintptr(c.kind), uintptr(c.counter), pointer(out))
	runtime.KeepAlive(out)
	return s
}

func (l *table) rows(f string, d handle, out *remapped) Status {
	s := l.call(f, uintptr(d), pointer(&out.correctable), pointer(&out.uncorrectable), pointer(&out.pending), pointer(&out.failed))
	runtime.KeepAlive(out)
	return s
}

func (l *table) fields(f string, d handle, values []fieldValue) Status {
	s := l.call(f, uintptr(d), uintptr(len(values)), pointer(&values[0]))
	runtime.KeepAlive(values)
	return s
}

func (l *table) create(f string, set *handle) Status {
	s := l.call(f, pointer(set))
	runtime.KeepAlive(set)
	return s
}

func (l *table) samples(f string, d handle, w *samples) Status {
	s := l.call(f, uintptr(d), pointer(&w.values[0]), pointer(&w.n), uintptr(w.since))
	runtime.KeepAlive(w)
	return s
}

func (l *table) next(f string, set handle, w *wait) Status {
	s := l.call(f, uintptr(set), pointer(&w.event), uintptr(w.milliseconds))
	runtime.KeepAlive(w)
	return s
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
