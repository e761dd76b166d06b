package machine

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// mods are the modifiers of an instruction that are not understood yet.
type mods struct{ left []string }

// has takes the modifier and reports whether it was there.
func (m *mods) has(name string) bool { return m.oneOf(name) != "" }

// oneOf takes the first modifier that is among names, or returns "".
func (m *mods) oneOf(names ...string) string {
	for i, s := range m.left {
		if slices.Contains(names, s) {
			m.left = slices.Delete(m.left, i, i+1)
			return s
		}
	}
	return ""
}

// typ takes the first type.
func (m *mods) typ() ptx.Type {
	for i, s := range m.left {
		if t, ok := ptx.ParseType(s); ok {
			m.left = slices.Delete(m.left, i, i+1)
			return t
		}
	}
	return ptx.NoType
}

// space takes the state space; without one the address is generic.
func (m *mods) space() ptx.Space {
	for i, s := range m.left {
		if space, ok := ptx.ParseSpace(s); ok {
			m.left = slices.Delete(m.left, i, i+1)
			return space
		}
	}
	return ptx.Generic
}

// drop takes all modifiers for which f holds.
func (m *mods) drop(f func(string) bool) { m.left = slices.DeleteFunc(m.left, f) }
