package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat/internal/jinja"
)

// longestFormat limits the format of strftime_now.
const longestFormat = 1 << 12

// clock returns the function strftime_now for a time.
func clock(now time.Time) jinja.Func {
	return func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		if len(args) == 1 {
			if format, ok := args[0].(string); ok && len(format) <= longestFormat {
				return strftime(now, format)
			}
		}
		return nil, fmt.Errorf("strftime_now needs a format of at most %d bytes", longestFormat)
	}
}

// layouts are the directives of strftime in the layout of package time.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'm': "01",
	'p': "PM", 'S': "05", 'y': "06", 'Y': "2006", 'j': "002", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05",
}

// strftime formats a time as Python's function of this name does in the C
// locale.
func strftime(now time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		bare := format[i] == '-' && i+1 < len(format) // without padding
		if bare {
			i++
		}
		layout, ok := layouts[format[i]]
		switch {
		case format[i] == '%':
			b.WriteByte('%')
		case !ok:
			return "", fmt.Errorf("strftime_now does not know %%%c", format[i])
		case bare:
			s := strings.TrimLeft(now.Format(layout), "0 ")
			if s == "" {
				s = "0"
			}
			b.WriteString(s)
		default:
			b.WriteString(now.Format(layout))
		}
	}
	return b.String(), nil
}
