// Command multiply multiplies two arrays element by element on the best device of the machine,
// compares the result with that of a plain Go loop, and prints the time of each part.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopherwarp/gopherwarp"
)

func main() {
	began := time.Now()
	since := flag.Int64("since", 0, "measure the time to the first kernel's end from this Unix time in ns, as printed by date +%s%N")
	flag.Parse()
	if *since != 0 {
		began = time.Unix(0, *since)
	}
	if err := run(os.Stdout, began, 1_000_000, 10_000_000); err != nil {
		fmt.Fprintln(os.Stderr, "multiply:", err)
		os.Exit(1)
	}
}

// run multiplies arrays of each size and writes a table of the times to w.
func run(w io.Writer, began time.Time, sizes ...int) error {
	dev, err := gopherwarp.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		return err
	}
	defer s.Close()

	// The first launch also loads the kernel, so it is not part of the table.
	if _, err := newArrays(sizes[0]).measure(s); err != nil {
		return err
	}
	fmt.Fprintf(w, "device: %v\nfirst kernel done %v after the start\n\n", dev.Info(), short(time.Since(began)))

	fmt.Fprintf(w, "%12s%12s%12s%12s%12s\n", "elements", "kernel", "copies", "total", "CPU loop")
	elements, largest := 0, 0.0
	for _, n := range sizes {
		x := newArrays(n)
		if _, err := x.measure(s); err != nil { // the operating system maps the memory now, not while the clock runs
			return err
		}
		t, err := x.measure(s)
		if err != nil {
			return err
		}
		loop, worst := x.check()
		fmt.Fprintf(w, "%12d%12v%12v%12v%12v\n", n, short(t.kernel), short(t.copies), short(t.total), short(loop))
		elements, largest = elements+n, max(largest, worst)
	}
	if largest != 0 {
		return fmt.Errorf("largest error %g in %d elements, want 0", largest, elements)
	}
	fmt.Fprintf(w, "\nok  %d elements, largest error %g\n", elements, largest)
	return nil
}

// short rounds a time for the table.
func short(d time.Duration) time.Duration {
	if d < time.Millisecond {
		return d.Round(100 * time.Nanosecond)
	}
	return d.Round(10 * time.Microsecond)
}
