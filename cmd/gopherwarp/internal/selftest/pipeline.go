package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	stages = 3  // of the pipeline
	part   = 64 // elements that go through a stage, and threads
)

// stream adds up the parts of x, element by element, while the next ones are on their way to
// shared memory, and the sums of four in w.
//
//gpu:kernel
//gpu:block 64
func stream(t gpu.Thread, x []float64, w [][4]float32, sums []float64, wides [][4]float32) {
	ring := gpu.Shared[[stages][part]float64](t)
	wide := gpu.Shared[[stages][part][4]float32](t)
	i, parts := t.ThreadX(), len(x)/part
	for next := range stages - 1 {
		if next < parts {
			gpu.CopyAsync(t, &ring[next][i], &x[next*part+i])
			gpu.CopyAsync(t, &wide[next][i], &w[next*part+i])
		}
		t.CommitCopies()
	}
	sum, total := 0.0, [4]float32{}
	for now := range parts {
		t.WaitCopies(stages - 2)
		t.Sync()
		j := part - 1 - i // copied by another thread
		sum += ring[now%stages][j]
		for k := range 4 {
			total[k] += wide[now%stages][j][k]
		}
		if next := now + stages - 1; next < parts {
			gpu.CopyAsync(t, &ring[next%stages][i], &x[next*part+i])
			gpu.CopyAsync(t, &wide[next%stages][i], &w[next*part+i])
		}
		t.CommitCopies()
	}
	sums[i], wides[i] = sum, total
}

func checkPipeline(s *session) error {
	const parts = 7
	x, w := make([]float64, parts*part), make([][4]float32, parts*part)
	sums, wides := make([]float64, part), make([][4]float32, part)
	for i := range x {
		x[i], w[i] = float64(i), [4]float32{float32(i), 2, float32(i % 5), -float32(i)}
		j := part - 1 - i%part
		sums[j] += x[i]
		for k := range 4 {
			wides[j][k] += w[i][k]
		}
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	dw, err := upload(s, w)
	if err != nil {
		return err
	}
	dsums, err := upload(s, make([]float64, part))
	if err != nil {
		return err
	}
	dwides, err := upload(s, make([][4]float32, part))
	if err != nil {
		return err
	}
	if err := Stream(s.stream, device.Blocks{X: 1}, dx, dw, dsums, dwides); err != nil {
		return err
	}
	if err := expect(s, dsums, sums); err != nil {
		return err
	}
	return expect(s, dwides, wides)
}

// crooked copies 16 bytes from an address that is no multiple of 16 where at is none of 4.
//
//gpu:kernel
func crooked(t gpu.Thread, x []float32, at int) {
	to := gpu.Shared[[4]float32](t)
	gpu.CopyAsync(t, to, (*[4]float32)(x[at:]))
	t.CommitCopies()
	t.WaitCopies(0)
	x[0] = to[3]
}

// checkCrooked wants a fault where the copy is not possible; the CPU can do it.
func checkCrooked(s *session) error {
	x, err := upload(s, []float32{0, 1, 2, 3, 4, 5, 6, 7})
	if err != nil {
		return err
	}
	g := device.Cover(1, 1)
	if err := Crooked(s.stream, g, x, 4); err != nil {
		return err
	}
	if err := expect(s, x, []float32{7, 1, 2, 3, 4, 5, 6, 7}); err != nil {
		return err
	}
	if err := Crooked(s.stream, g, x, 3); err != nil {
		return err
	}
	got, err := download(s, x)
	f, ok := errors.AsType[*device.Fault](err)
	if ok && strings.Contains(f.Message, "no multiple of the size") || err == nil && got[0] == 6 {
		return nil
	}
	return fmt.Errorf("got %v and %v, want a fault or 6", got, err)
}
