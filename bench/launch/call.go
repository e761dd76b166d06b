package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/gopherwarp/gopherwarp/bench/launch/crossing"
	"github.com/gopherwarp/gopherwarp/internal/cudasys"
	"github.com/gopherwarp/gopherwarp/internal/dl"
)

const calls = 1_000_000

// plain is a call that does nothing.
//
//go:noinline
func plain(x uintptr) uintptr { return x }

// measureCalls measures calls within Go, into the C library and into the driver.
func measureCalls(w io.Writer) error {
	report := func(what string, f func()) {
		start := time.Now()
		for range calls {
			f()
		}
		fmt.Fprintf(w, "call, %s: %.1f ns\n", what, float64(time.Since(start).Nanoseconds())/calls)
	}
	report("Go", func() { plain(7) })
	if name := map[string]string{"linux": "libc.so.6", "darwin": "/usr/lib/libSystem.B.dylib"}[runtime.GOOS]; name != "" {
		lib, err := dl.Open(name)
		if err != nil {
			return err
		}
		abs, err := lib.Symbol("abs")
		if err != nil {
			return err
		}
		report("C", func() { dl.Call(abs, 7) })
	}
	if crossing.Possible {
		report("C by cgo", func() { crossing.Abs(7) })
	}
	d, err := cudasys.Load()
	if err != nil {
		return nil // the kernels ran on the CPU
	}
	version := new(int32)
	report("driver (cuDriverGetVersion)", func() { d.DriverGetVersion(version) })
	return nil
}
