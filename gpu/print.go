package gpu

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Printf prints from a kernel. The format is a constant with the verbs of package fmt; the
// arguments are booleans, numbers and constant strings. Synchronizing the stream writes the text to
// the stream's output, ordered by launch, block, thread and call, regardless of the order in which
// the threads ran.
func Printf(t Thread, format string, args ...any) {
	t.block.Print(simt.Line{
		Block:  t.block.Index,
		Thread: [3]int{int(t.x), int(t.y), int(t.z)},
		Text:   fmt.Sprintf(format, args...),
	})
}
