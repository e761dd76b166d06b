// Command replay runs packed random kernels on a GPU and compares with what is known of them.
//
//	go run ./internal/progen/long -contract -n 20000 -seed 9 -report r.txt -pack random.pack
//	CGO_ENABLED=0 go build ./internal/progen/replay     # and on the machine with the GPU:
//	./replay -limit 50s -part 0 -of 16 random.pack
//
// It has no compiler: the pack has PTX, and hashes of the results.
package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/internal/progen/trial"
)

// most is how many kernels that differ are named.
const most = 30

func main() {
	limit := flag.Duration("limit", time.Hour, "start no kernel after this time")
	part := flag.Int("part", 0, "which of so many parts to run")
	of := flag.Int("of", 1, "parts: the driver compiles for one process at a time, so run several")
	flag.Parse()
	if err := replay(flag.Arg(0), *limit, [2]int{*part, *of}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// replay runs a part of a pack: every kernel whose number leaves part[0] when divided by part[1].
func replay(name string, limit time.Duration, part [2]int) error {
	start := time.Now()
	all, err := read(name)
	if err != nil {
		return err
	}
	var list []trial.Packed
	for i, p := range all {
		if i%part[1] == part[0] {
			list = append(list, p)
		}
	}
	dev, err := cuda.Open(0)
	if err != nil {
		return err
	}
	defer dev.Close()
	dev.CoarsenAlways(true) // the kernels are small
	fmt.Printf("%v; %d kernels, read in %.1f s\n", dev.Info(), len(list), time.Since(start).Seconds())
	var ran, faulted, differ atomic.Int64
	err = trial.Each(len(list), func() (func(int), error) {
		r := trial.NewRunner(dev)
		return func(i int) {
			if time.Since(start) > limit {
				return
			}
			p := &list[i]
			got := r.Whole(&p.Trial)
			ran.Add(1)
			if got.Fault != "" {
				faulted.Add(1)
			}
			if got.Sum() != p.Sum && differ.Add(1) <= most {
				fmt.Printf("%s differs: %q\n", p.Trial.Kernel.Name, got.Fault)
			}
		}, nil
	})
	fmt.Printf("%d kernels ran, %d faulted, %d differ, %.1f s\n", ran.Load(), faulted.Load(), differ.Load(), time.Since(start).Seconds())
	return err
}

// read returns the trials of all packs in a file.
func read(name string) (list []trial.Packed, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	z, err := gzip.NewReader(r)
	for ; err == nil; err = z.Reset(r) {
		more, err := trial.ReadPack(z)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
		if _, err := io.Copy(io.Discard, z); err != nil { // the next one begins behind all of it
			return nil, err
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return list, nil
}
