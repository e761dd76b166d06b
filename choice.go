package gopherwarp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// choice is the device that a user selects; the zero choice is the best device.
type choice struct {
	kind    string
	index   int  // of a CUDA or Vulkan device, or unnumbered
	fast    bool // the interpreter detects neither data races nor reads of uninitialized memory
	traffic bool // the interpreter writes a table of memory traffic
	threads cpu.Threads
}

// unnumbered is the index if the user names Vulkan without the number of a device.
const unnumbered = -1

// parse parses the value of GOPHERWARP_DEVICE.
func parse(s string) (choice, error) {
	kind, rest, more := strings.Cut(s, ":")
	c, ok := choice{kind: kind}, !more
	switch kind {
	case "":
	case "cpu":
		if more {
			c.threads, ok = threads[rest]
		}
	case "cuda", "vulkan":
		if kind == "vulkan" {
			c.index = unnumbered
		}
		if more {
			i, err := strconv.ParseUint(rest, 10, 16)
			c.index, ok = int(i), err == nil
		}
	case "interp":
		if more {
			ok = c.interpreter(rest)
		}
	default:
		ok = false
	}
	if !ok {
		return choice{}, fmt.Errorf(`gopherwarp: %s is %q; it can be "cuda", "cuda:0" and so on, "vulkan", "vulkan:0" and so on, "cpu", "cpu:coroutines", `+
			`"cpu:goroutines", "interp", "interp:fast", "interp:traffic", or empty for the best device`, Variable, s)
	}
	return c, nil
}

// CheckDevice returns an error if value is not a valid value of GOPHERWARP_DEVICE. It does not
// check that the machine has the device.
func CheckDevice(value string) error {
	_, err := parse(value)
	return err
}

// threads maps the part of the value after "cpu:" to the way in which the CPU runs threads.
var threads = map[string]cpu.Threads{"coroutines": cpu.Coroutines, "goroutines": cpu.Goroutines}

// interpreter parses the options after "interp:" and reports whether all of them are known.
func (c *choice) interpreter(options string) bool {
	for w := range strings.SplitSeq(options, ",") {
		switch w {
		case "fast":
			c.fast = true
		case "traffic":
			c.traffic = true
		default:
			return false
		}
	}
	return true
}
