package commandline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// value is where a flag or an argument stores what the command line says.
type value struct {
	target any    // a pointer
	sep    string // between elements of a slice; empty if arguments are not divided
	usual  string // the default, for help pages
}

func (v value) isBool() bool {
	_, ok := v.target.(*bool)
	return ok
}

func (v value) isSlice() bool {
	_, ok := v.target.(*[]string)
	return ok
}

// parse stores a text. The first text replaces the default of a slice, and others append to it.
func (v value) parse(text string, first bool) error {
	switch to := v.target.(type) {
	case *string:
		*to = text
	case **string:
		*to = &text
	case *[]string:
		if first {
			*to = nil
		}
		if v.sep == "" {
			*to = append(*to, text)
		} else if text != "" {
			*to = append(*to, strings.Split(text, v.sep)...)
		}
	case *bool:
		return parsed(to, text, "true or false", parseBool)
	case *int:
		return parsed(to, text, "an integer", func(text string) (int, error) {
			n, err := strconv.ParseInt(text, 0, strconv.IntSize)
			return int(n), err
		})
	case *uint64:
		return parsed(to, text, "an integer that is not negative", func(text string) (uint64, error) { return strconv.ParseUint(text, 0, 64) })
	case *float64:
		return parsed(to, text, "a number", func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	case *time.Duration:
		return parsed(to, text, "a duration, such as 30s or 1h30m", time.ParseDuration)
	default:
		panic(fmt.Sprintf("BUG: a field of the command line is a %T", to))
	}
	return nil
}

// parsed stores the result of parse, or returns an error that says what is wanted.
func parsed[T any](to *T, text, wanted string, parse func(string) (T, error)) error {
	v, err := parse(text)
	if err != nil {
		return fmt.Errorf("%q; want %s", text, wanted)
	}
	*to = v
	return nil
}

func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return strconv.ParseBool(text)
}
