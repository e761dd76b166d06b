package driver

import (
	"fmt"
	"strings"
)

// Message formats the message of a Site with the given format. The args are numbers and booleans;
// an int stands for an int64. Back ends that run kernels as Go code call it.
func Message(format string, args ...any) string {
	for i, a := range args {
		if n, ok := a.(int); ok {
			args[i] = int64(n)
		}
	}
	format, args = shorten(format, args)
	return fmt.Sprintf(format, args...)
}

// shorten drops the limit from a message about a negative index or bound, as Go's runtime does:
// "index out of range [-1]" and "slice bounds out of range [-1:]". Compiled code checks an index
// with one unsigned comparison, so the sign is known only here.
func shorten(format string, args []any) (string, []any) {
	if !strings.HasPrefix(format, "index out of range [") && !strings.HasPrefix(format, "slice bounds out of range [") {
		return format, args
	}
	if len(args) != 2 {
		return format, args
	}
	if n, ok := args[0].(int64); !ok || n >= 0 {
		return format, args
	}
	short, _, found := strings.Cut(format, " with ")
	if limit := strings.LastIndex(format, "%d"); !found && limit >= 0 {
		short = format[:limit] + format[limit+len("%d"):]
	}
	return short, args[:1]
}
