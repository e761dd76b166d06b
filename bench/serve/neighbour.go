package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

// neighbourCommand is the first argument of a process that takes all memory of the device that others have left.
const neighbourCommand = "neighbour"

// runNeighbour is the process.
func runNeighbour(_ []string, in io.Reader, out io.Writer) (err error) {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	if kind := dev.Info().Kind; kind != "cuda" {
		return fmt.Errorf("the memory of the device %s is that of the machine", kind)
	}
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()
	taken, err := takeAll(s)
	defer func() {
		for _, b := range taken {
			b.Close()
		}
	}()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "taken"); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// takeAll allocates buffers until the device has no memory for a small one.
func takeAll(s *device.Stream) (list []*device.Buffer[byte], err error) {
	for size := 1 << 30; size >= 1<<20; {
		b, err := device.MakeDirty[byte](s, size)
		if err == nil {
			err = s.Synchronize(context.Background())
		}
		switch {
		case errors.Is(err, device.ErrMemory):
			size /= 8
		case err != nil:
			return list, err
		default:
			list = append(list, b)
		}
	}
	return list, nil
}
