package cpu

import "testing"

func TestUsesWord(t *testing.T) {
	for _, tc := range []struct {
		text, name string
		want       bool
	}{
		{"d", "d", true},
		{"x := d + 1", "d", true},
		{"dd := 1", "d", false},
		{"unsafe.Add(p, 4)", "d", false}, // the second d is after a match, and in a word
		{"ab.d", "d", true},
		{"tx_ + tx", "tx", true},
		{"tx_", "tx", false},
		{"", "d", false},
		{"x", "", false},
	} {
		if got := usesWord([]line{{text: tc.text}}, tc.name); got != tc.want {
			t.Errorf("%q uses %q: %t, want %t", tc.text, tc.name, got, tc.want)
		}
	}
}
