package device

import (
	"fmt"
	"strings"
)

// Message returns what a site with this format says of args, which are numbers and booleans, an
// int for an int64. A device that runs kernels as Go code forms messages by it.
func Message(format string, args ...any) string {
	for i, a := range args {
		if n, ok := a.(int); ok {
			args[i] = int64(n)
		}
	}
	format, args = negative(format, args)
	return fmt.Sprintf(format, args...)
}

// negative shortens a message about an index or a bound that is negative, as Go's runtime
// does: it says "index out of range [-1]" and "slice bounds out of range [-1:]", without what the
// limit was. The compiler checks an index by one comparison, so only here it is known to be negative.
func negative(format string, args []any) (string, []any) {
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
