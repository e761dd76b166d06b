package gopherwarp

import (
	"fmt"
	"strconv"
	"strings"
)

// choice is the device that a user asks for; the zero choice is the best one.
type choice struct {
	kind  string
	index int // of a CUDA device
}

// parse reads the value of GOPHERWARP_DEVICE.
func parse(s string) (choice, error) {
	switch s {
	case "", "cuda", "cpu", "interp":
		return choice{kind: s}, nil
	}
	if number, ok := strings.CutPrefix(s, "cuda:"); ok {
		if i, err := strconv.ParseUint(number, 10, 16); err == nil {
			return choice{"cuda", int(i)}, nil
		}
	}
	return choice{}, fmt.Errorf(`gopherwarp: %s is %q; it can be "cuda", "cuda:0" and so on, "cpu", "interp", or empty for the best device`, Variable, s)
}
