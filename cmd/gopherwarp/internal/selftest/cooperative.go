package selftest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// relax replaces each number by a mixture of its neighbours, step by step in one launch: no
// block may be a step ahead of the others. Threads without a number leave.
//
//gpu:kernel
func relax(t gpu.Thread, x, y []uint32, steps, broken int) {
	i, n := t.GlobalX(), len(x)
	if i >= n || t.ThreadX() < 3 && t.BlockX() == 1 {
		return // the second block goes on without its first threads
	}
	for s := range steps {
		next := 2*x[(i+1)%n] + 3*x[(i+n-1)%n] + uint32(s)
		if s == broken && i%100 == 99 {
			next = x[n+i]
		}
		if next%7 != 0 || x[i] == 1 {
			next++
		}
		y[i] = next
		t.SyncGrid()
		x, y = y, x
	}
}

// relaxed returns what relax leaves of x.
func relaxed(x []uint32, block, steps int) []uint32 {
	n := len(x)
	y := slices.Clone(x)
	for s := range steps {
		for i := range x {
			if i/block == 1 && i%block < 3 {
				continue
			}
			next := 2*x[(i+1)%n] + 3*x[(i+n-1)%n] + uint32(s)
			if next%7 != 0 || x[i] == 1 {
				next++
			}
			y[i] = next
		}
		x, y = y, x
	}
	return x
}

func checkGrid(s *session) error {
	const n, block, steps = 500, 96, 8
	x := make([]uint32, n)
	for i := range x {
		x[i] = uint32(i * i)
	}
	d, err := upload(s, x)
	if err != nil {
		return err
	}
	y, err := upload(s, x)
	if err != nil {
		return err
	}
	for range 2 { // also with what the first launch left
		if err := Relax(s.stream, device.Cover(n, block), d, y, steps, -1); err != nil {
			return err
		}
		x = relaxed(x, block, steps)
		if err := expect(s, d, x); err != nil {
			return err
		}
		if err := device.UploadTo(s.stream, y, x); err != nil {
			return err
		}
	}
	if err := Relax(s.stream, device.Cover(n, block), d, y, steps, 2); err != nil {
		return err
	}
	if f, ok := errors.AsType[*device.Fault](s.wait()); !ok || (f.Block[0]*block+f.Thread[0])%100 != 99 {
		return fmt.Errorf("got %v, want a fault of every hundredth thread", f)
	}
	if err := device.UploadTo(s.stream, d, x); err != nil {
		return err
	}
	if err := device.UploadTo(s.stream, y, x); err != nil {
		return err
	}
	if err := Relax(s.stream, device.Cover(n, block), d, y, steps, -1); err != nil {
		return err
	}
	return expect(s, d, relaxed(x, block, steps))
}
