package cuda

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/streamcopy"
)

// gpu returns the GPU of this machine, or skips the benchmark.
func gpu(b *testing.B) *device.Device {
	b.Helper()
	dev, err := Open(0)
	if err != nil {
		b.Skipf("no GPU to measure: %v", err)
	}
	b.Cleanup(func() { check(b, dev.Close()) })
	return dev
}

func gpuStream(b *testing.B, dev *device.Device) *device.Stream {
	b.Helper()
	s, err := dev.NewStreamTo(io.Discard)
	check(b, err)
	return s
}

// rate reports the data rate of the benchmark, which moves n bytes in each iteration.
func rate(b *testing.B, n int) {
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// touched returns n bytes whose pages are resident.
func touched(n int) []byte {
	p := make([]byte, n)
	for i := 0; i < n; i += 512 {
		p[i] = byte(i)
	}
	return p
}

// BenchmarkGPUCopy copies from and to pinned memory, and from and to ordinary memory, both through
// this package and directly through the driver.
func BenchmarkGPUCopy(b *testing.B) {
	dev := gpu(b)
	for _, n := range []int{64 << 10, 1 << 20, 16 << 20, 1 << 30} {
		s := gpuStream(b, dev)
		d, err := device.MakeDirty[byte](s, n)
		check(b, err)
		pinned, err := device.NewPinned[byte](dev, n)
		check(b, err)
		copy(pinned.Host(), touched(n))
		host := touched(n)
		raw, err := dev.Backend().Allocate(n)
		check(b, err)
		q := s.Queue().(*queue)
		check(b, device.UploadTo(s, d.All(), host)) // allocates the slots
		for name, f := range map[string]func() error{
			"upload/pinned":     func() error { return device.UploadPinned(s, d.All(), pinned.All()) },
			"upload/ordinary":   func() error { return device.UploadTo(s, d.All(), host) },
			"upload/driver":     func() error { return q.UploadFrom(raw.Address(), host) },
			"download/pinned":   func() error { return device.DownloadPinned(s, pinned.All(), d.All()) },
			"download/ordinary": func() error { return device.Download(s, host, d) },
			"download/driver":   func() error { return q.DownloadTo(host, raw.Address()) },
		} {
			b.Run(name+"/"+strings.ReplaceAll(bytesText(n), " ", ""), func(b *testing.B) {
				busy := cpuTime()
				for b.Loop() {
					check(b, f())
					check(b, s.Synchronize(b.Context()))
				}
				rate(b, n)
				b.ReportMetric((cpuTime()-busy).Seconds()*1e3/float64(b.N), "cpu-ms/op")
			})
		}
		check(b, d.Close())
		check(b, pinned.Close())
		check(b, raw.Free())
		check(b, s.Close())
	}
}

// BenchmarkGPURegistered copies from memory of Go's heap that is registered.
func BenchmarkGPURegistered(b *testing.B) {
	dev := gpu(b)
	s, host := gpuStream(b, dev), touched(256<<20)
	d, err := device.MakeDirty[byte](s, len(host))
	check(b, err)
	b.Run("register", func(b *testing.B) {
		for b.Loop() {
			p, err := device.Register(dev, host)
			check(b, err)
			check(b, p.Close())
			check(b, dev.Trim())
		}
	})
	p, err := device.Register(dev, host)
	check(b, err)
	b.Run("upload", func(b *testing.B) {
		for b.Loop() {
			check(b, device.UploadPinned(s, d.All(), p.All()))
			check(b, s.Synchronize(b.Context()))
		}
		rate(b, len(host))
	})
	check(b, p.Close())
	check(b, d.Close())
}

// BenchmarkGPUStage uploads and downloads ordinary memory through stages of different sizes.
func BenchmarkGPUStage(b *testing.B) {
	dev := gpu(b)
	back := dev.Backend().(*backend)
	const n = 1 << 30
	host := touched(n)
	s := gpuStream(b, dev)
	d, err := device.MakeDirty[byte](s, n)
	check(b, err)
	wide, plain := streamcopy.Copy, func(dst, src []byte) { copy(dst, src) }
	pieces := func(dst, src []byte) { // Go copies less than a megabyte through the cache
		for n := 0; len(dst) > 0; dst, src = dst[n:], src[n:] {
			n = copy(dst[:min(len(dst), 128<<10)], src)
		}
	}
	for _, c := range []struct {
		name  string
		sizes stageSizes
	}{
		{"4MiBx16", stageSizes{4 << 20, 16, 4, 256 << 10, 1 << 20, 4 << 20, 8, plain, wide}},
		{"4MiBx24", stageSizes{4 << 20, 24, 4, 256 << 10, 1 << 20, 4 << 20, 8, plain, wide}},
		{"8MiBx12", stageSizes{8 << 20, 12, 2, 256 << 10, 1 << 20, 4 << 20, 8, plain, wide}},
		{"8MiBx16", stageSizes{8 << 20, 16, 2, 256 << 10, 1 << 20, 4 << 20, 8, plain, wide}},
		{"8MiBx16/pieces", stageSizes{8 << 20, 16, 2, 256 << 10, 1 << 20, 4 << 20, 8, pieces, wide}},
		{"8MiBx16/wide", stageSizes{8 << 20, 16, 2, 256 << 10, 1 << 20, 4 << 20, 8, wide, wide}},
		{"8MiBx16/even", stageSizes{8 << 20, 16, 2, 8 << 20, 8 << 20, 4 << 20, 8, pieces, wide}},
		{"16MiBx12/pieces", stageSizes{16 << 20, 12, 2, 256 << 10, 1 << 20, 4 << 20, 8, pieces, wide}},
	} {
		name, sizes := c.name, c.sizes
		usual := back.stage
		back.stage = newStage(back, sizes)
		check(b, device.UploadTo(s, d.All(), host)) // allocates the slots
		check(b, s.Synchronize(b.Context()))
		b.Run("upload/"+name, func(b *testing.B) {
			busy := cpuTime()
			for b.Loop() {
				check(b, device.UploadTo(s, d.All(), host))
				check(b, s.Synchronize(b.Context()))
			}
			rate(b, n)
			b.ReportMetric((cpuTime()-busy).Seconds()*1e3/float64(b.N), "cpu-ms/op")
		})
		b.Run("download/"+name, func(b *testing.B) {
			busy := cpuTime()
			for b.Loop() {
				check(b, device.Download(s, host, d))
				check(b, s.Synchronize(b.Context()))
			}
			rate(b, n)
			b.ReportMetric((cpuTime()-busy).Seconds()*1e3/float64(b.N), "cpu-ms/op")
		})
		check(b, back.stage.settleAll())
		check(b, back.stage.free())
		back.stage = usual
	}
	check(b, d.Close())
}

// lane is one array of the overlap benchmark.
type lane struct {
	in, out *device.Pinned[float32]
	x, y    *device.Buffer[float32]
}

// BenchmarkGPUOverlap copies ten arrays of 10M elements from pinned memory, runs a kernel on each
// and copies them back, on one stream and on ten. It also measures the copies alone, in both
// directions at once.
func BenchmarkGPUOverlap(b *testing.B) {
	dev := gpu(b)
	const arrays, n = 10, 10_000_000
	k, streams, lanes := devicetest.Multiply(), make([]*device.Stream, arrays), make([]lane, arrays)
	for i := range lanes {
		streams[i] = gpuStream(b, dev)
		lanes[i] = newLane(b, streams[i], n)
	}
	round := func(b *testing.B, on func(i int) *device.Stream, kernel bool) {
		for b.Loop() {
			for i, l := range lanes {
				s := on(i)
				check(b, device.UploadPinned(s, l.x.All(), l.in.All()))
				if kernel {
					check(b, launch(s, k, device.Cover(n, 256), l.x.All(), l.x.All(), l.y.All()))
				}
				check(b, device.DownloadPinned(s, l.out.All(), l.y.All()))
			}
			for _, s := range streams {
				check(b, s.Synchronize(b.Context()))
			}
		}
		rate(b, 2*4*n*arrays)
	}
	b.Run("1stream", func(b *testing.B) { round(b, func(int) *device.Stream { return streams[0] }, true) })
	b.Run("10streams", func(b *testing.B) { round(b, func(i int) *device.Stream { return streams[i] }, true) })
	b.Run("10streams/copies", func(b *testing.B) { round(b, func(i int) *device.Stream { return streams[i] }, false) })
	for _, l := range lanes {
		check(b, l.in.Close())
		check(b, l.out.Close())
		check(b, l.x.Close())
		check(b, l.y.Close())
	}
}

func newLane(b testing.TB, s *device.Stream, n int) (l lane) {
	b.Helper()
	var err error
	l.in, err = device.NewPinned[float32](s.Device(), n)
	check(b, err)
	l.out, err = device.NewPinned[float32](s.Device(), n)
	check(b, err)
	clear(l.in.Host())
	clear(l.out.Host())
	l.x, err = device.Make[float32](s, n)
	check(b, err)
	l.y, err = device.Make[float32](s, n)
	check(b, err)
	return l
}

// emptyKernel returns a kernel with n slice parameters that does nothing.
func emptyKernel(n int) *driver.Kernel {
	k := &driver.Kernel{Name: fmt.Sprintf("empty%d", n), ParamBytes: 24*n + driver.HiddenBytes}
	for i := range n {
		k.Params = append(k.Params, driver.Param{Name: "x", Offset: 24 * i, Size: 24, Elem: 4})
	}
	k.Variants = []driver.Variant{{Target: device.Capability{Major: 7}, PTX: &driver.Text{Code: fmt.Sprintf(
		".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry %s(.param .align 8 .b8 p[%d])\n{\n\tret;\n}\n",
		k.Name, k.ParamBytes)}}}
	return k
}

// BenchmarkGPULaunchArguments enqueues empty kernels.
func BenchmarkGPULaunchArguments(b *testing.B) {
	dev := gpu(b)
	for _, n := range []int{0, 1, 2, 4, 8, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { launches(b, dev, emptyKernel(n), device.Cover(1, 32)) })
	}
	b.Run("attribute", func(b *testing.B) {
		k := emptyKernel(0)
		k.Variants[0].Awaits = true
		launches(b, dev, k, device.Cover(1, 32))
	})
	dev.RecordCallers(true)
	b.Run("recorded", func(b *testing.B) { launches(b, dev, emptyKernel(0), device.Cover(1, 32)) })
	dev.RecordCallers(false)
}

// BenchmarkFakeLaunchArguments measures the part of a launch that is Go code.
func BenchmarkFakeLaunchArguments(b *testing.B) {
	for _, n := range []int{0, 1, 4, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFake()
			d := f.Driver()
			d.LaunchKernel = func(*cudasys.Launch) cudasys.Status { return cudasys.Success }
			dev := open(b, f)
			launches(b, dev, emptyKernel(n), device.Cover(1, 32))
			check(b, dev.Close())
		})
	}
}

// launches enqueues k repeatedly. It waits from time to time, so that the driver's own queue, which
// blocks its caller when full, does not fill.
func launches(b *testing.B, dev *device.Device, k *driver.Kernel, g device.Grid) {
	s := gpuStream(b, dev)
	x, err := device.MakeDirty[float32](s, 8)
	check(b, err)
	all := x.All()
	start := func() {
		p := s.Plan(k, g)
		for range k.Params {
			all.Pass(p)
		}
		if err := p.Launch(); err != nil {
			b.Fatal(err)
		}
	}
	start()
	check(b, s.Synchronize(b.Context()))
	b.ReportAllocs()
	for i := 1; b.Loop(); i++ {
		start()
		if i%500 == 0 {
			b.StopTimer()
			check(b, s.Synchronize(b.Context()))
			b.StartTimer()
		}
	}
	check(b, s.Synchronize(b.Context()))
	check(b, x.Close())
	check(b, s.Close())
}

// BenchmarkGPUSynchronize waits for an idle stream, for a kernel, and from many goroutines.
func BenchmarkGPUSynchronize(b *testing.B) {
	dev := gpu(b)
	s, k, faulting := gpuStream(b, dev), emptyKernel(0), devicetest.Poke()
	b.Run("nothing", func(b *testing.B) {
		for b.Loop() {
			check(b, s.Synchronize(b.Context()))
		}
	})
	b.Run("kernel", func(b *testing.B) {
		for b.Loop() {
			check(b, s.Plan(k, device.Cover(1, 32)).Launch())
			check(b, s.Synchronize(b.Context()))
		}
	})
	b.Run("kernel-that-may-fault", func(b *testing.B) { // with a check for a fault
		x, err := device.Make[int32](s, 32)
		check(b, err)
		for b.Loop() {
			check(b, poke(s, faulting, x.All(), -1))
			check(b, s.Synchronize(b.Context()))
		}
		check(b, x.Close())
	})
	b.Run("parallel", func(b *testing.B) {
		b.SetParallelism(64)
		b.RunParallel(func(pb *testing.PB) {
			own, err := dev.NewStreamTo(io.Discard)
			check(b, err)
			for pb.Next() {
				check(b, own.Plan(k, device.Cover(1, 32)).Launch())
				check(b, own.Synchronize(b.Context()))
			}
			check(b, own.Close())
		})
	})
}

// BenchmarkGPUGraph runs 100 small kernels, one by one and as a graph.
func BenchmarkGPUGraph(b *testing.B) {
	dev := gpu(b)
	s, k := gpuStream(b, dev), devicetest.Multiply()
	x, err := device.Make[float32](s, 1024)
	check(b, err)
	work := func(s *device.Stream) error {
		for range 100 {
			if err := launch(s, k, device.Cover(1024, 256), x.All(), x.All(), x.All()); err != nil {
				return err
			}
		}
		return nil
	}
	g, err := dev.Capture(work)
	check(b, err)
	for name, f := range map[string]func() error{
		"launches": func() error { return work(s) },
		"graph":    func() error { return g.Launch(s) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				check(b, f())
				check(b, s.Synchronize(b.Context()))
			}
		})
	}
	b.Run("enqueue", func(b *testing.B) {
		for i := 1; b.Loop(); i++ {
			check(b, g.Launch(s))
			if i%5 == 0 {
				b.StopTimer()
				check(b, s.Synchronize(b.Context()))
				b.StartTimer()
			}
		}
	})
	b.Run("update", func(b *testing.B) {
		for b.Loop() {
			check(b, g.Update(50, func(s *device.Stream) error {
				return launch(s, k, device.Cover(1024, 128), x.All(), x.All(), x.All())
			}))
		}
	})
	check(b, g.Close())
	check(b, x.Close())
}

// BenchmarkGPUPool allocates and frees memory.
func BenchmarkGPUPool(b *testing.B) {
	dev := gpu(b)
	s := gpuStream(b, dev)
	for _, n := range []int{256, 1 << 20, 1 << 30} {
		b.Run(strings.ReplaceAll(bytesText(n), " ", ""), func(b *testing.B) {
			for b.Loop() {
				m, err := device.MakeDirty[byte](s, n)
				check(b, err)
				check(b, m.Close())
			}
			check(b, s.Synchronize(b.Context()))
		})
	}
	b.Run("driver/1MiB", func(b *testing.B) { // cuMemAlloc and cuMemFree
		for b.Loop() {
			m, err := dev.Backend().Allocate(1 << 20)
			check(b, err)
			check(b, m.Free())
		}
	})
}

// BenchmarkGPUPreload compiles 16 kernels that the driver has not seen, one after the other and in
// parallel.
func BenchmarkGPUPreload(b *testing.B) {
	fresh := func() (all []*driver.Kernel) {
		for i := range 16 {
			k := devicetest.Multiply()
			k.Variants[0].PTX = &driver.Text{Code: fmt.Sprintf("%s\n// %d %d\n", k.Variants[0].PTX, time.Now().UnixNano(), i)}
			all = append(all, k)
		}
		return all
	}
	dev := gpu(b)
	b.Run("one-by-one", func(b *testing.B) {
		for b.Loop() {
			for _, k := range fresh() {
				check(b, dev.Preload(k))
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			check(b, dev.Preload(fresh()...))
		}
	})
}

// BenchmarkGPUFill fills memory, and copies within the device.
func BenchmarkGPUFill(b *testing.B) {
	dev := gpu(b)
	s, n := gpuStream(b, dev), 1<<30
	x, err := device.MakeDirty[float64](s, n/8)
	check(b, err)
	for name, f := range map[string]func() error{
		"4bytes": func() error { return device.Fill(s, device.View[float32](x.All()), 1.5) },
		"8bytes": func() error { return device.Fill(s, x.All(), 1.1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				check(b, f())
				check(b, s.Synchronize(b.Context()))
			}
			rate(b, n)
		})
	}
	check(b, x.Close())
}

// BenchmarkGPUPeer copies between the first two GPUs, if there are two.
func BenchmarkGPUPeer(b *testing.B) {
	if infos, err := List(); err != nil || len(infos) < 2 {
		b.Skip("needs two GPUs to copy between")
	}
	dev := gpu(b)
	other, err := Open(1)
	check(b, err)
	s, o, n := gpuStream(b, dev), gpuStream(b, other), 1<<30
	to, err := device.MakeDirty[byte](s, n)
	check(b, err)
	from, err := device.MakeDirty[byte](o, n)
	check(b, err)
	for b.Loop() {
		check(b, device.CopyFrom(s, to.All(), o, from.All()))
		check(b, s.Synchronize(b.Context()))
	}
	rate(b, n)
	check(b, to.Close())
	check(b, from.Close())
	check(b, other.Close())
}
