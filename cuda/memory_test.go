package cuda

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// small is a device with little memory.
var small = cudafake.Device{Name: "Fake small", Major: 9, Memory: 4 << 20}

func TestClosingDoesNotWait(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	s, other := newStream(t, dev), newStream(t, dev)
	f.Hold(true)
	a, err := device.Upload(s, make([]float32, 100))
	check(t, err)
	pinned, err := device.NewPinned[float32](dev, 100)
	check(t, err)
	g, err := dev.Capture(func(s *device.Stream) error { return device.Fill(s, a.All(), 1) })
	check(t, err)
	check(t, launch(s, devicetest.Multiply(), device.Cover(100, 32), a.All(), a.All(), a.All()))
	check(t, launch(other, devicetest.Multiply(), device.Cover(100, 32), a.All(), a.All(), a.All()))
	check(t, device.DownloadPinned(s, pinned.All(), a.All()))
	check(t, g.Launch(other))
	done := make(chan error)
	go func() { done <- errors.Join(g.Close(), a.Close(), pinned.Close()) }()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(time.Minute):
		t.Fatal("Close waits for the streams")
	}
	f.Hold(false)
	check(t, s.Synchronize(t.Context()))
	check(t, other.Synchronize(t.Context()))
	if n := f.Blocked(); n != 0 {
		t.Errorf("%d copies would have blocked their thread", n)
	}
	mustClose(t, dev)
}

// TestFullDeviceMakesRoom fills a device with buffers that are closed but not yet freed, and with
// unreachable buffers that were never closed.
func TestFullDeviceMakesRoom(t *testing.T) {
	for _, pools := range []bool{true, false} {
		d := small
		d.NoPools = !pools
		f := cudafake.New(d)
		f.Latency = 20
		dev := open(t, f)
		s := newStream(t, dev)
		for i := range 40 {
			b, err := device.Make[byte](s, 1<<20)
			check(t, err)
			if i%2 == 0 {
				check(t, b.Close())
			}
		}
		check(t, s.Synchronize(t.Context()))
		mustClose(t, dev)
	}
}

func TestFullDeviceNamesOwners(t *testing.T) {
	f := cudafake.New(small)
	dev := open(t, f)
	s := newStream(t, dev)
	var all []*device.Buffer[byte]
	var err error
	for err == nil {
		var b *device.Buffer[byte]
		if b, err = device.MakeDirty[byte](s, 600<<10); err == nil {
			all = append(all, b)
		}
	}
	wantError(t, err, OutOfMemory, "cuda: cuMemAllocFromPoolAsync(600 KiB): CUDA_ERROR_OUT_OF_MEMORY")
	wantError(t, err, device.ErrMemory, "memory_test.go:")
	full, ok := errors.AsType[*device.MemoryError](err)
	if !ok || len(full.Owners) != 1 || full.Owners[0].Buffers != len(all) || full.Owners[0].Bytes != int64(len(all)*600<<10) || len(all) != 6 {
		t.Errorf("%d buffers, error %+v", len(all), full)
	}
	for _, b := range all {
		check(t, b.Close())
	}
	b, err := device.MakeDirty[byte](s, 4<<20)
	check(t, err)
	if room, err := dev.Room(); err != nil || room != 0 {
		t.Errorf("a full device has room for %d bytes, %v", room, err)
	}
	check(t, b.Close())
	if room, err := dev.Room(); err != nil || room != 4<<20 {
		t.Errorf("afterwards, it has room for %d bytes, %v", room, err)
	}
	stats, err := dev.MemoryStats()
	check(t, err)
	if stats.Used != 0 || stats.Peak != 4<<20 || stats.Reserved != 4<<20 {
		t.Errorf("got %+v", stats)
	}
	check(t, dev.Trim())
	if stats, err = dev.MemoryStats(); err != nil || stats.Reserved != 0 {
		t.Errorf("after Trim: %+v, %v", stats, err)
	}
	mustClose(t, dev)
}

// TestManagedIsBounded allocates more managed memory than is free, which the driver would grant.
func TestManagedIsBounded(t *testing.T) {
	dev := open(t, cudafake.New(small))
	defer mustClose(t, dev)
	m, err := device.NewManaged[byte](dev, 3<<20)
	check(t, err)
	_, err = device.NewManaged[byte](dev, 2<<20)
	wantError(t, err, device.ErrMemory, "2 MiB of managed memory, the device has 1 MiB free")
	check(t, m.Close())
	check(t, dev.Trim())
	m, err = device.NewManaged[byte](dev, 4<<20)
	check(t, err)
	check(t, m.Close())
}

func TestPriorities(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	defer mustClose(t, dev)
	for _, p := range []int{0, 2, 100, -7} {
		_, err := dev.NewStreamWith(device.StreamOptions{Priority: p})
		check(t, err)
	}
	got := f.Priorities()
	slices.Sort(got)
	if want := []int{-5, -2, 0, 0, 0, 0}; !slices.Equal(got, want) { // two are the runtime's own
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestStageIsReused copies much more than fits in the stage, from several goroutines.
func TestStageIsReused(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	s := newStream(t, dev)
	const n = 20 << 20
	x := make([]byte, n)
	for i := range x {
		x[i] = byte(i >> 10 * 31)
	}
	for range 2 {
		b, err := device.Upload(s, x)
		check(t, err)
		got := make([]byte, n)
		check(t, device.Download(s, got, b))
		check(t, s.Synchronize(t.Context()))
		if !bytes.Equal(got, x) {
			t.Error("the downloaded data differs from the uploaded data")
		}
		check(t, b.Close())
	}
	if live := f.Live(); live.Pinned > 20 {
		t.Errorf("%d blocks of pinned memory for two copies", live.Pinned)
	}
	mustClose(t, dev)
}

// TestStageGrows checks that the stage pins little memory for the first copies and all of it for
// large ones.
func TestStageGrows(t *testing.T) {
	st := newStage(nil, defaultStage())
	for i, step := range []struct{ n, want int }{{4 << 20, 1}, {4 << 20, 1}, {4 << 20, 1}, {4 << 20, 2}, {64 << 20, 10}} {
		if got := st.worth(step.n); got != step.want {
			t.Errorf("copy %d of %s: %d goroutines, want %d", i, bytesText(step.n), got, step.want)
		}
	}
	dev := open(t, newFake())
	st = dev.Backend().(*backend).stage
	var taken []*slot
	for i, want := range []int{1, 2, 4, 4, 6} {
		s, err := st.grow()
		check(t, err)
		if taken = append(taken, s); st.made != want {
			t.Errorf("after %d acquisitions there are %d slots, want %d", i+1, st.made, want)
		}
	}
	for _, s := range taken {
		st.slots <- s
	}
	mustClose(t, dev)
}

func TestGPUFull(t *testing.T) {
	dev, err := onGPU(t)()
	check(t, err)
	s := newStream(t, dev)
	chunk := int(dev.Info().Memory / 20)
	var all []*device.Buffer[byte]
	start := time.Now()
	for err == nil {
		var b *device.Buffer[byte]
		if b, err = device.MakeDirty[byte](s, chunk); err == nil {
			all = append(all, b)
		}
	}
	full, ok := errors.AsType[*device.MemoryError](err)
	if !ok || full.Owners[0].Buffers != len(all) || !strings.HasPrefix(full.Owners[0].Site, "memory_test.go:") {
		t.Errorf("after %d buffers: %v", len(all), err)
	}
	t.Logf("%d buffers of %s in %v, then %v", len(all), bytesText(chunk), time.Since(start), err)
	for _, b := range all {
		check(t, b.Close())
	}
	start = time.Now()
	for range 200 { // ten times the GPU's memory, never closed
		_, err := device.MakeDirty[byte](s, chunk)
		check(t, err)
	}
	stats, err := dev.MemoryStats()
	check(t, err)
	t.Logf("200 buffers that are never closed: %v, %+v, leaks %+v", time.Since(start), stats, dev.Leaks())
	mustClose(t, dev)
}

// TestGPUPeers runs the tests for two devices on two GPUs.
func TestGPUPeers(t *testing.T) {
	onGPU(t)
	if infos, err := List(); err != nil || len(infos) < 2 {
		t.Skip("needs two GPUs to copy between")
	}
	first, err := Open(0)
	check(t, err)
	second, err := Open(1)
	check(t, err)
	check(t, workBetween(first, second))
	check(t, workBetween(second, first))
	mustClose(t, first)
	mustClose(t, second)
}
