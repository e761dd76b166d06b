package jinja

import (
	"strconv"
	"strings"
)

// unescape returns the value of what stands between the quotes of a string literal.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for s != "" {
		if s[0] != '\\' || len(s) == 1 {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		s = s[escape(&b, s):]
	}
	return b.String()
}

// escape appends the value of the escape sequence at the start of s, and returns its length. Unknown sequences stay as they are.
func escape(b *strings.Builder, s string) int {
	if i := strings.IndexByte("\nntrabfv\\'\"", s[1]); i >= 0 {
		b.WriteString([]string{"", "\n", "\t", "\r", "\a", "\b", "\f", "\v", "\\", "'", `"`}[i])
		return 2
	}
	switch s[1] {
	case 'x':
		return code(b, s, digits{2, 2, 16})
	case 'u':
		return code(b, s, digits{2, 4, 16})
	case 'U':
		return code(b, s, digits{2, 8, 16})
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 1
		for n < 3 && n+1 < len(s) && '0' <= s[n+1] && s[n+1] <= '7' {
			n++
		}
		return code(b, s, digits{1, n, 8})
	}
	b.WriteString(s[:2])
	return 2
}

// digits says where the digits of a character's code are in an escape sequence.
type digits struct{ begin, n, base int }

// code appends the character with the code that an escape sequence contains, and returns the length of the sequence.
func code(b *strings.Builder, s string, d digits) int {
	if len(s) < d.begin+d.n {
		b.WriteString(s)
		return len(s)
	}
	c, err := strconv.ParseUint(s[d.begin:d.begin+d.n], d.base, 31)
	if err != nil {
		b.WriteString(s[:2])
		return 2
	}
	b.WriteRune(rune(c))
	return d.begin + d.n
}
