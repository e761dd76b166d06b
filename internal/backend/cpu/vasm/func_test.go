package vasm

import "testing"

func TestLost(t *testing.T) {
	f := New(&AVX512)
	label := f.NewLabel()
	f.Jump("JMP", label)
	if got := f.Lost(); got != label {
		t.Errorf("lost: %q, want %q", got, label)
	}
	f.Label(label)
	if got := f.Lost(); got != "" {
		t.Errorf("lost: %q, which stands there", got)
	}
}
