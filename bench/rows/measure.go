package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

const (
	warmups = 2 // after the launch that is checked
	checked = 8 // rows of each result
)

// bench is what a case is prepared on. The first error sticks to it.
type bench struct {
	s       *device.Stream
	size    size
	buffers []io.Closer
	err     error
}

// work is what a case measures.
type work struct {
	bytes  float64 // that must be read and written
	launch func() error
	check  func() error // after the first launch
}

func (b *bench) close() {
	for _, c := range b.buffers {
		c.Close()
	}
}

// add notes an error.
func (b *bench) add(err error) {
	if b.err == nil {
		b.err = err
	}
}

// upload returns a copy of host on the device.
func upload[T any](b *bench, host []T) device.Slice[T] {
	x, err := device.Upload(b.s, host)
	if b.add(err); err != nil {
		return device.Slice[T]{}
	}
	b.buffers = append(b.buffers, x)
	return x.All()
}

// result returns n elements that are NaN.
func result[T row.Number](b *bench, n int) device.Slice[T] {
	x, err := device.MakeDirty[T](b.s, n)
	if b.add(err); err != nil {
		return device.Slice[T]{}
	}
	b.buffers = append(b.buffers, x)
	b.add(device.Fill(b.s, x.All(), row.From64[T](math.NaN())))
	return x.All()
}

// randoms is the number of different numbers of an input.
const randoms = 1 << 22

// random returns n normally distributed numbers, of which the first randoms repeat.
func random[T row.Number](b *bench, n int) device.Slice[T] {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	host := make([]T, min(n, randoms))
	for i := range host {
		host[i] = row.From64[T](2 * r.NormFloat64())
	}
	x := result[T](b, n)
	if b.err != nil {
		return x
	}
	b.add(device.UploadTo(b.s, x.Slice(0, len(host)), host))
	for have := len(host); have < n && b.err == nil; {
		more := min(have, n-have)
		b.add(device.Copy(b.s, x.Slice(have, have+more), x.Slice(0, more)))
		have += more
	}
	return x
}

// part returns elements of an array on the host.
func part[T any](b *bench, x device.Slice[T], start, end int) []T {
	host := make([]T, end-start)
	b.add(device.Download(b.s, host, x.Slice(start, end)))
	b.add(b.s.Synchronize(context.Background()))
	return host
}

// eachRow calls f for some of the rows, the first and the last among them.
func eachRow(rows int, f func(at int) error) error {
	for i := range min(checked, rows) {
		if err := f(i * (rows - 1) / max(1, min(checked, rows)-1)); err != nil {
			return err
		}
	}
	return nil
}

// compare compares a row with a reference, given the errors that are allowed beside that of rounding.
func compare[T row.Number](got []T, want, allowed []float64) error {
	relative, absolute := row.Rounding[T]()
	for i, w := range want {
		if g := row.Float64(got[i]); !(math.Abs(g-w) <= relative*math.Abs(w)+allowed[i]+absolute) {
			return fmt.Errorf("column %d is %v, want %v", i, g, w)
		}
	}
	return nil
}

// scaled returns the numbers of x times by.
func scaled(x []float64, by float64) []float64 {
	list := slices.Clone(x)
	for i := range list {
		list[i] *= by
	}
	return list
}

// measure launches once and checks the result, then returns the median time of a launch.
func (b *bench) measure(w work) (time.Duration, error) {
	if b.err != nil {
		return 0, b.err
	}
	if err := errors.Join(w.launch(), b.s.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	if err := errors.Join(w.check(), b.err); err != nil {
		return 0, err
	}
	for range warmups {
		if err := w.launch(); err != nil {
			return 0, err
		}
	}
	times := make([]time.Duration, b.size.launches)
	for i := range times {
		var err error
		if times[i], err = b.time(w.launch); err != nil {
			return 0, err
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// time returns the time of a launch by the device's clock.
func (b *bench) time(launch func() error) (time.Duration, error) {
	before, err := b.s.Record()
	if err != nil {
		return 0, err
	}
	defer before.Close()
	err = launch()
	after, recorded := b.s.Record()
	if err := errors.Join(err, recorded, b.s.Synchronize(context.Background())); err != nil {
		return 0, err
	}
	defer after.Close()
	return after.Since(before)
}
