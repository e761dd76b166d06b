package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp/device"
)

// Check is one thing that a device must get right.
type Check struct {
	Name string
	run  func(*session) error
}

// Run runs the check on a stream of its own and returns what is wrong, or nil.
func (c Check) Run(ctx context.Context, dev *device.Device) error {
	var printed lines
	stream, err := dev.NewStreamTo(&printed)
	if err != nil {
		return err
	}
	s := &session{Context: ctx, stream: stream, printed: &printed}
	return errors.Join(c.run(s), s.close())
}

// Checks returns all checks, the simplest first.
func Checks() []Check {
	return []Check{
		{"indices in three dimensions", checkIndices},
		{"int8 arithmetic", checkInt8},
		{"uint16 arithmetic", checkUint16},
		{"int32 arithmetic", checkInt32},
		{"uint32 arithmetic", checkUint32},
		{"int64 arithmetic", checkInt64},
		{"uint64 arithmetic", checkUint64},
		{"float32 arithmetic", checkFloat32},
		{"float64 arithmetic", checkFloat64},
		{"conversions", checkConversions},
		{"math functions", checkMath},
		{"loops and switches", checkControl},
		{"structs and arrays", checkStructs},
		{"shared memory and barriers", checkReduce},
		{"a transposed tile", checkTranspose},
		{"dynamic shared memory", checkDynamic},
		{"large shared memory", checkLarge},
		{"asynchronous copies", checkPipeline},
		{"a copy between odd addresses", checkCrooked},
		{"atomic addition", checkHistogram},
		{"int32 atomics", checkAtomicInt32},
		{"uint32 atomics", checkAtomicUint32},
		{"int64 atomics", checkAtomicInt64},
		{"uint64 atomics", checkAtomicUint64},
		{"float32 atomics", checkAtomicFloat32},
		{"float64 atomics", checkAtomicFloat64},
		{"one block waits for another", checkHandOver},
		{"warps and votes", checkWarps},
		{"a fault beside those that wait", checkStumble},
		{"a barrier of the grid", checkGrid},
		{"random numbers", checkRandom},
		{"clocks", checkClocks},
		{"printing", checkPrint},
		{"an index out of range is an error", checkRange},
		{"a failed assertion is an error", checkAssert},
		{"a division by zero is an error", checkDivision},
	}
}

// session is a check that runs: a stream and what was allocated for it.
type session struct {
	context.Context
	stream  *device.Stream
	printed *lines
	buffers []io.Closer
}

func (s *session) close() error {
	var errs []error
	for _, b := range s.buffers {
		errs = append(errs, b.Close())
	}
	return errors.Join(append(errs, s.stream.Close())...)
}

func (s *session) wait() error { return s.stream.Synchronize(s.Context) }

// upload returns host in the device's memory.
func upload[T any](s *session, host []T) (device.Slice[T], error) {
	b, err := device.Upload(s.stream, host)
	if err != nil {
		return device.Slice[T]{}, err
	}
	s.buffers = append(s.buffers, b)
	return b.All(), nil
}

// download waits for the stream and returns what d holds.
func download[T any](s *session, d device.Slice[T]) ([]T, error) {
	host := make([]T, d.Len())
	if err := device.Download(s.stream, host, d); err != nil {
		return nil, err
	}
	return host, s.wait()
}

// compare returns an error for the first element that differs. NaNs are alike.
func compare[T comparable](got, want []T) error {
	for i := range want {
		if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			return fmt.Errorf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}

// expect downloads d and compares it.
func expect[T comparable](s *session, d device.Slice[T], want []T) error {
	got, err := download(s, d)
	if err != nil {
		return err
	}
	return compare(got, want)
}

// lines collects what kernels print.
type lines []byte

func (l *lines) Write(p []byte) (int, error) {
	*l = append(*l, p...)
	return len(p), nil
}
