package bytelevel

import "strings"

// shifted is the number of bytes that do not stand for themselves.
const shifted = 33 + 34 + 1

// Rune returns the character that stands for b.
func Rune(b byte) rune {
	switch {
	case b <= ' ':
		return 0x100 + rune(b)
	case b >= 0x7f && b <= 0xa0:
		return 0x100 + rune(b) - 0x7f + 33
	case b == 0xad:
		return 0x100 + shifted - 1
	}
	return rune(b)
}

// Byte returns the byte that r stands for, and whether it stands for one.
func Byte(r rune) (byte, bool) {
	switch {
	case r >= 0x100 && r <= 0x120:
		return byte(r - 0x100), true
	case r > 0x120 && r < 0x100+shifted-1:
		return byte(r - 0x121 + 0x7f), true
	case r == 0x100+shifted-1:
		return 0xad, true
	case r > ' ' && r < 0x7f, r > 0xa0 && r <= 0xff && r != 0xad:
		return byte(r), true
	}
	return 0, false
}

// Encode returns the characters that stand for the bytes of s.
func Encode(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	for i := range len(s) {
		b.WriteRune(Rune(s[i]))
	}
	return b.String()
}

// Decode returns the bytes that the characters of s stand for. It reports
// false if a character stands for none.
func Decode(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		c, ok := Byte(r)
		if !ok {
			return "", false
		}
		b = append(b, c)
	}
	return string(b), true
}
