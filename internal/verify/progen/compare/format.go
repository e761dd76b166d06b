package compare

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// source stands before a kernel's source.
const source = "-- source --\n"

// Format returns a kernel as a text that Parse reads, for a case of a test.
func Format(k progen.Kernel) string {
	text := k.Source
	k.Source = ""
	launch, err := json.Marshal(k)
	if err != nil {
		panic("BUG: compare: " + err.Error())
	}
	return "-- launch --\n" + string(launch) + "\n" + source + strings.TrimLeft(text, "\n")
}

// Parse returns the kernel that a text holds. What stands before it says why.
func Parse(text string) (k progen.Kernel, err error) {
	_, text, _ = strings.Cut(text, "-- launch --\n")
	launch, text, ok := strings.Cut(text, source)
	if !ok {
		return k, fmt.Errorf("compare: no %q", source)
	}
	err = json.Unmarshal([]byte(launch), &k)
	k.Source = text
	return k, err
}
