package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

const elements = 1 << 20

func main() {
	since := flag.Int64("since", time.Now().UnixNano(), "measure from this Unix time in ns")
	peer := flag.String("peer", "", "compare with this program, compiled from start.cu")
	runs := flag.Int("runs", 15, "number of runs of each program and kind")
	asJSON := flag.String("json", os.DevNull, "write the results of -peer to this `file`, for gopherwarp bench -add")
	flag.Parse()
	var err error
	if *peer != "" {
		var f *os.File
		if f, err = os.Create(*asJSON); err == nil {
			err = errors.Join(compare(os.Stdout, f, *peer, *runs), f.Close())
		}
	} else {
		err = once(os.Stdout, time.Unix(0, *since))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start:", err)
		os.Exit(1)
	}
}

// once computes one result, and writes the time at which each phase ended.
func once(w io.Writer, began time.Time) error {
	var b phases
	b.mark(began, "main")
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	b.mark(began, "open")
	x, y, got := make([]float32, elements), make([]float32, elements), make([]float32, elements)
	for i := range x {
		x[i], y[i] = float32(i), 1
	}
	da, err := device.Upload(s, x)
	if err != nil {
		return err
	}
	db, err := device.Upload(s, y)
	if err != nil {
		return err
	}
	dc, err := device.Make[float32](s, elements)
	if err != nil {
		return err
	}
	b.mark(began, "upload")
	if err := Add(s, device.Blocks{X: elements / 256, Y: 1, Z: 1}, da.All(), db.All(), dc.All()); err != nil {
		return err
	}
	b.mark(began, "launch")
	if err := device.Download(s, got, dc.All()); err != nil {
		return err
	}
	if err := s.Synchronize(context.Background()); err != nil {
		return err
	}
	for i, v := range got {
		if want := float32(i) + 1; v != want {
			return fmt.Errorf("element %d is %v, want %v", i, v, want)
		}
	}
	b.mark(began, "result")
	fmt.Fprintln(w, b.String())
	return dev.Close()
}
