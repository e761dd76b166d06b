package devicetest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
)

// The functions below are the examples of docs/runtime.md. TestRuntimePage compares the page's code
// with this file, and the tests run the examples on the CPU.

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kernels stands for a package with a generated launcher.
var kernels = struct {
	Multiply func(s *device.Stream, g device.Grid, a, b, c device.Slice[float32]) error
}{
	func(s *device.Stream, g device.Grid, a, b, c device.Slice[float32]) error {
		p := s.Plan(multiplyKernel, g)
		a.Pass(p)
		b.Pass(p)
		c.Pass(p)
		return p.Launch()
	},
}

var multiplyKernel = devicetest.Multiply()

// launchers stands for a package with a generated launcher whose kernel tests a slice for nil.
var launchers = struct {
	Optional func(s *device.Stream, g device.Grid, dst, src device.Slice[int32]) error
}{
	func(s *device.Stream, g device.Grid, dst, src device.Slice[int32]) error {
		p := s.Plan(devicetest.Optional(), g)
		dst.Pass(p)
		src.Pass(p)
		return p.Launch()
	},
}

func optional(e example) error {
	s, n := e.s, e.n
	src, err := device.Make[int32](s, n)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := device.Make[int32](s, n)
	if err != nil {
		return err
	}
	defer dst.Close()
	err = cmp.Or(
		launchers.Optional(s, device.Cover(n, 256), dst.All(), src.All()),            // copies src to dst
		launchers.Optional(s, device.Cover(n, 256), dst.All(), device.None[int32]())) // src is nil: stores 1, 2, 3 and so on in dst
	got := make([]int32, n)
	err = errors.Join(err, device.Download(s, got, dst), s.Synchronize(e.ctx))
	if err == nil && got[n-1] != int32(n) {
		return fmt.Errorf("the last number is %d, want %d", got[n-1], n)
	}
	return err
}

// example contains the variables that the page's examples use.
type example struct {
	dev  *device.Device
	s    *device.Stream
	ctx  context.Context
	host []float32
	n    int
}

func wholeWay(e example) ([]float32, error) {
	dev, ctx, host, n := e.dev, e.ctx, e.host, e.n
	s, err := dev.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	a, err := device.Upload(s, host)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	c, err := device.Make[float32](s, n)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out := make([]float32, n)
	err = cmp.Or( // the first error
		kernels.Multiply(s, device.Cover(n, 256), a.All(), a.All(), c.All()),
		device.Download(s, out, c),
		s.Synchronize(ctx), // also returns a panic in the kernel
	)
	return out, err
}

func scoped(e example) ([]float32, error) {
	dev, ctx, host, n := e.dev, e.ctx, e.host, e.n
	out := make([]float32, n)
	err := dev.Scope(ctx, func(s *device.Stream) error {
		a, err := device.Upload(s, host)
		if err != nil {
			return err
		}
		defer a.Close()
		return cmp.Or(
			kernels.Multiply(s, device.Cover(n, 256), a.All(), a.All(), a.All()),
			device.Download(s, out, a))
	}) // Scope has waited for the stream and closed it
	return out, err
}

func pinnedCopies(e example) ([]float32, error) {
	dev, s, ctx, host, n := e.dev, e.s, e.ctx, e.host, e.n
	a, err := device.MakeDirty[float32](s, n)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	p, err := device.NewPinned[float32](dev, n)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	copy(p.Host(), host) // p.Host() is a []float32
	err = cmp.Or(
		device.UploadPinned(s, a.All(), p.All()), // does not wait
		kernels.Multiply(s, device.Cover(n, 256), a.All(), a.All(), a.All()),
		device.DownloadPinned(s, p.All(), a.All()),
		s.Synchronize(ctx)) // p.Host() now contains the products
	return slices.Clone(p.Host()), err
}

func twoStreams(e example) ([]float32, error) {
	dev, s, ctx, host, n := e.dev, e.s, e.ctx, e.host, e.n
	out := make([]float32, n)
	a, err := device.Upload(s, host)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	copies, err := dev.NewStreamWith(device.StreamOptions{Priority: 1})
	if err != nil {
		return nil, err
	}
	defer copies.Close()
	done, err := s.Record() // after the upload
	if err != nil {
		return nil, err
	}
	defer done.Close()
	err = cmp.Or(
		copies.WaitFor(done), // the stream waits, not the caller
		device.Download(copies, out, a),
		copies.Synchronize(ctx)) // also returns a fault of the work that precedes the event in s
	return out, err
}

func timed(e example) (time.Duration, error) {
	s, ctx, n := e.s, e.ctx, e.n
	a, err := device.Make[float32](s, n)
	if err != nil {
		return 0, err
	}
	defer a.Close()
	start, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer start.Close()
	if err := kernels.Multiply(s, device.Cover(n, 256), a.All(), a.All(), a.All()); err != nil {
		return 0, err
	}
	end, err := s.Record()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	if err := s.Synchronize(ctx); err != nil {
		return 0, err
	}
	return end.Since(start)
}

func selected(e example) error {
	s, ctx := e.s, e.ctx
	select {
	case <-s.Done():
		return s.Synchronize(ctx) // returns at once; nil means that the results are valid
	case <-time.After(time.Minute):
		return errors.New("the stream is still busy; its work continues")
	}
}

func graphed(e example) ([]float32, error) {
	dev, s, ctx, host, n := e.dev, e.s, e.ctx, e.host, e.n
	p, err := device.Register(dev, slices.Clone(host))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	a, err := device.Make[float32](s, n)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	step := func(s *device.Stream) error { // enqueues on any stream
		return cmp.Or(
			device.UploadPinned(s, a.All(), p.All()),
			kernels.Multiply(s, device.Cover(n, 256), a.All(), a.All(), a.All()),
			device.DownloadPinned(s, p.All(), a.All()))
	}
	g, err := dev.Capture(step) // records the work, but does not run it
	if err != nil {
		return nil, err
	}
	defer g.Close()
	err = cmp.Or(g.Launch(s), g.Launch(s), s.Synchronize(ctx)) // runs it twice
	if err != nil {
		return nil, err
	}
	launch := g.Nodes()[0] // the first launch: {Number: 1, Kernel: "multiply", Launched: "main.go:42"}
	err = g.Update(launch.Number, func(s *device.Stream) error {
		return kernels.Multiply(s, device.Cover(10, 32), a.Slice(0, 10), a.Slice(0, 10), a.Slice(0, 10))
	})
	return slices.Clone(p.Host()), err
}

func graphWithMemory(e example) ([]float32, error) {
	dev, s, ctx, n, out := e.dev, e.s, e.ctx, e.n, make([]float32, e.n)
	a, err := device.Upload(s, e.host)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var squares *device.Buffer[float32]
	g, err := dev.Capture(func(s *device.Stream) error {
		scratch, err := device.Make[float32](s, n) // the graph's own memory
		if err != nil {
			return err
		}
		defer scratch.Close() // later buffers of the graph may use its memory
		if squares, err = device.MakeDirty[float32](s, n); err != nil {
			return err
		}
		return cmp.Or(
			device.Copy(s, scratch.All(), a.All()),
			kernels.Multiply(s, device.Cover(n, 256), a.All(), scratch.All(), squares.All()))
	})
	if err != nil {
		return nil, err
	}
	defer g.Close() // also closes squares
	err = cmp.Or(g.Launch(s), device.Download(s, out, squares), s.Synchronize(ctx))
	return out, err
}

func planes(e example) error {
	s, ctx := e.s, e.ctx
	picture := make([]uint8, 640*480)
	b, plane, err := device.MakePlane[uint8](s, 640, 480) // rows start at multiples of 256 bytes
	if err != nil {
		return err
	}
	defer b.Close()
	icon := plane.Part(device.Rect{X: 600, Y: 10, Width: 32, Height: 32})
	return cmp.Or(
		device.UploadPlane(s, plane, picture),
		device.CopyPlane(s, icon, plane.Part(device.Rect{Width: 32, Height: 32})),
		device.Fill(s, plane.Row(0), 255),
		s.Synchronize(ctx))
}

func fullOrNot(e example) error {
	dev, s := e.dev, e.s
	dev.SetMemoryLimit(8 << 30)
	b, err := device.Make[float32](s, 3<<30)
	var full *device.MemoryError
	if errors.As(err, &full) {
		for _, o := range full.Owners { // largest first
			fmt.Println(o.Site, o.Buffers, o.Bytes)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return b.Close()
}

func launched(e example) error {
	dev, s, n := e.dev, e.s, e.n
	a, err := device.Make[float32](s, n)
	if err != nil {
		return err
	}
	defer a.Close()
	if err := dev.Preload(multiplyKernel); err != nil { // otherwise the first launch compiles the kernel
		return err
	}
	g, err := dev.Fit(multiplyKernel, n) // a grid with the best block size for the kernel and the device
	if err != nil {
		return err
	}
	g.Shared = 1024 // bytes of dynamic shared memory; see Grid for clusters and cooperative launches
	return kernels.Multiply(s, g, a.All(), a.All(), a.All())
}

func TestRuntimeExamples(t *testing.T) {
	dev, err := cpu.Open()
	must(t, err)
	e := example{dev: dev, ctx: t.Context(), n: 1000, host: make([]float32, 1000)}
	e.s, err = dev.NewStream()
	must(t, err)
	squares, fourth := make([]float32, e.n), make([]float32, e.n)
	for i := range e.host {
		e.host[i] = float32(i % 10)
		squares[i] = e.host[i] * e.host[i]
		fourth[i] = squares[i] * squares[i]
	}
	for name, c := range map[string]struct {
		run  func(example) ([]float32, error)
		want []float32
	}{
		"wholeWay": {wholeWay, squares}, "scoped": {scoped, squares}, "pinnedCopies": {pinnedCopies, squares},
		"twoStreams": {twoStreams, e.host}, "graphed": {graphed, fourth}, "graphWithMemory": {graphWithMemory, squares},
	} {
		if got, err := c.run(e); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v ..., %v, want %v", name, got[:12], err, c.want[:12])
		}
	}
	if took, err := timed(e); err != nil || took <= 0 {
		t.Errorf("timed: %v, %v", took, err)
	}
	for name, run := range map[string]func(example) error{
		"selected": selected, "planes": planes, "fullOrNot": fullOrNot, "launched": launched, "optional": optional,
	} {
		if err := run(e); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, dev.Close())
}

// TestRuntimePage checks that the code on the page is in this file.
func TestRuntimePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/runtime.md")
	must(t, err)
	file, err := os.ReadFile("runtime_test.go")
	must(t, err)
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 9 {
		t.Errorf("the page has %d pieces of code", len(blocks))
	}
	for _, block := range blocks {
		code, _, ok := strings.Cut(block, "```")
		if !ok || !strings.Contains(unindented(string(file)), unindented(code)) {
			t.Errorf("this code of the page is not in the test:\n%s", code)
		}
	}
}

// unindented returns text without the white space at the start of its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
