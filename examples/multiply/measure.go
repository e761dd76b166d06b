package main

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// arrays are the random factors a and b of a multiplication, and c for the product.
type arrays struct{ a, b, c []float32 }

func newArrays(n int) arrays {
	x := arrays{make([]float32, n), make([]float32, n), make([]float32, n)}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		x.a[i], x.b[i] = r.Float32()+1, r.Float32()+1
	}
	return x
}

// times are the times of a multiplication: of the kernel and the copies, measured by the device,
// and in total, measured by the program.
type times struct{ kernel, copies, total time.Duration }

// measure copies a and b to the device, multiplies them, and copies the product to c.
func (x arrays) measure(s *device.Stream) (t times, err error) {
	n := len(x.c)
	a, errA := device.Make[float32](s, n)
	b, errB := device.Make[float32](s, n)
	c, errC := device.Make[float32](s, n)
	if err := cmp.Or(errA, errB, errC); err != nil {
		return t, err
	}
	defer a.Close()
	defer b.Close()
	defer c.Close()

	do := func(failed error) { err = cmp.Or(err, failed) }
	mark := func() *device.Event { e, failed := s.Record(); do(failed); return e }
	began := time.Now()
	start := mark()
	do(device.UploadTo(s, a.All(), x.a))
	do(device.UploadTo(s, b.All(), x.b))
	uploaded := mark()
	do(Multiply(s, device.Cover(n, 256), a.All(), b.All(), c.All()))
	multiplied := mark()
	do(device.Download(s, x.c, c))
	end := mark()
	do(s.Synchronize(context.Background()))
	t.total = time.Since(began)
	if err != nil {
		return t, err
	}

	since := func(e, earlier *device.Event) time.Duration { d, failed := e.Since(earlier); do(failed); return d }
	t.kernel = since(multiplied, uploaded)
	t.copies = since(uploaded, start) + since(end, multiplied)
	for _, e := range []*device.Event{start, uploaded, multiplied, end} {
		do(e.Close())
	}
	return t, err
}

// check multiplies a and b with the plain loop. It returns the time of the loop and the largest
// error of c.
func (x arrays) check() (took time.Duration, largest float64) {
	want := make([]float32, len(x.c))
	for i := range want {
		want[i] = -1 // writes to the memory once, so that the loop, like the kernel, finds it mapped
	}
	began := time.Now()
	multiplyLoop(x.a, x.b, want)
	took = time.Since(began)
	for i, w := range want {
		off := math.Abs(float64(x.c[i]) - float64(w))
		if math.IsNaN(off) {
			off = math.Inf(1)
		}
		largest = max(largest, off)
	}
	return took, largest
}
