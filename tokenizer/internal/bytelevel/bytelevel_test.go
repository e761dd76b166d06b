package bytelevel

import "testing"

// TestAlphabet checks that the bytes and 256 characters correspond one to one.
func TestAlphabet(t *testing.T) {
	seen := map[rune]bool{}
	for b := range 256 {
		r := Rune(byte(b))
		back, ok := Byte(r)
		if seen[r] || !ok || int(back) != b {
			t.Errorf("byte %#x is %q, which is byte %#x, %v", b, r, back, ok)
		}
		seen[r] = true
	}
	n := 0
	for r := rune(-2); r < 0x400; r++ {
		if _, ok := Byte(r); ok {
			n++
		}
	}
	if n != 256 {
		t.Errorf("%d characters stand for bytes", n)
	}
	for b, want := range map[byte]rune{' ': 'Ġ', '\n': 'Ċ', '!': '!', 0x7f: 'ġ', 0xa0: 'ł', 0xad: 'Ń', 0xff: 'ÿ'} {
		if got := Rune(b); got != want {
			t.Errorf("byte %#x is %q, want %q", b, got, want)
		}
	}
	if _, ok := Decode("a b"); ok {
		t.Error("a space stands for a byte")
	}
	if s, ok := Decode(Encode("é \xff")); !ok || s != "é \xff" {
		t.Errorf("Decode(Encode) is %q, %v", s, ok)
	}
}
