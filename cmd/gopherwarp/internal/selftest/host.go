package selftest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

//gpu:kernel
func greet(t gpu.Thread, factor float32) {
	gpu.Printf(t, "thread %d of block %d: %.2f %v\n", t.ThreadX(), t.BlockX(), factor*float32(t.GlobalX()), t.ThreadX() == 1)
}

func checkPrint(s *session) error {
	if err := Greet(s.stream, device.Grid{Blocks: device.Dim{X: 2}, Block: device.Dim{X: 2}}, 1.5); err != nil {
		return err
	}
	if err := s.wait(); err != nil {
		return err
	}
	want := "thread 0 of block 0: 0.00 false\nthread 1 of block 0: 1.50 true\n" +
		"thread 0 of block 1: 3.00 false\nthread 1 of block 1: 4.50 true\n"
	if got := string(*s.printed); got != want {
		return fmt.Errorf("printed %q, want %q", got, want)
	}
	return nil
}

//gpu:kernel
func overrun(t gpu.Thread, x []int32, reach int) {
	x[t.GlobalX()+reach]++
}

// checkRange lets one thread of many run out of range, and then runs the kernel again
// within it: the device must have survived.
func checkRange(s *session) error {
	d, err := upload(s, make([]int32, 64))
	if err != nil {
		return err
	}
	if err := Overrun(s.stream, device.Cover(64, 32), d, 1); err != nil {
		return err
	}
	if err := checkFault(s.wait(), "index out of range [64] with length 64", [3]int{1, 0, 0}, [3]int{31, 0, 0}); err != nil {
		return err
	}
	if err := device.UploadTo(s.stream, d, make([]int32, 64)); err != nil {
		return err
	}
	if err := Overrun(s.stream, device.Cover(32, 32), d, 32); err != nil {
		return err
	}
	want := make([]int32, 64)
	for i := range 32 {
		want[32+i] = 1
	}
	return expect(s, d, want)
}

//gpu:kernel
func divide(t gpu.Thread, x []int64, by int64) {
	if i := t.GlobalX(); i == 5 {
		x[i] /= by
	}
}

func checkDivision(s *session) error {
	d, err := upload(s, make([]int64, 8))
	if err != nil {
		return err
	}
	if err := Divide(s.stream, device.Cover(8, 8), d, 0); err != nil {
		return err
	}
	return checkFault(s.wait(), "integer divide by zero", [3]int{}, [3]int{5, 0, 0})
}

// checkFault compares an error with the fault that a kernel must have raised.
func checkFault(err error, message string, block, thread [3]int) error {
	f, ok := errors.AsType[*device.Fault](err)
	if !ok {
		return fmt.Errorf("got %v, want a fault: %s", err, message)
	}
	if !strings.Contains(f.Message, message) || f.Block != block || f.Thread != thread || f.Line == 0 {
		return fmt.Errorf("got the fault %v, want %s in block %v thread %v", f, message, block, thread)
	}
	return nil
}
