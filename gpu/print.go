package gpu

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Printf prints from a kernel. The format is a constant, with fmt's verbs; arguments are
// booleans, numbers and constant strings. The text appears on the stream's output when the
// stream is waited for, ordered by launch, block, thread and the order of a thread's calls,
// whatever the order in which the threads ran.
func Printf(t Thread, format string, args ...any) {
	t.block.Print(simt.Line{
		Block:  t.block.Index,
		Thread: [3]int{int(t.x), int(t.y), int(t.z)},
		Text:   fmt.Sprintf(format, args...),
	})
}
