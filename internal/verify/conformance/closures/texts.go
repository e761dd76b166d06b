package closures

import "github.com/gopherwarp/gopherwarp/gpu"

// textual has a behaviour of strings a field.
type textual struct {
	Index, Length, Slice, Range, RangeRunes, RangeIndex, RangeEmpty, Equal, Unequal int64
	Argument, Result, Variable, InStruct, Compared, Switch, Bytes, CopyOf, Phi      int64
	Loop, RangeInLoop, RangeBreak, EqualStruct                                      int64
}

//gpu:kernel
func texts(t gpu.Thread, n []int64, out []textual) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = textAll(n[i])
	}
}

const alphabet = "abcdefghijklmnop"

type label struct {
	text string
	n    int64
}

func name(n int64) string {
	switch {
	case n > 5:
		return "many"
	case n == 0:
		return ""
	}
	return "few"
}

func digest(s string) (h int64) {
	for i := range len(s) {
		h = h*31 + int64(s[i])
	}
	return h
}

func textAll(n int64) (r textual) {
	r.Index, r.Length = int64(alphabet[n]), int64(len(name(n)))
	r.Slice = digest(alphabet[n:]) + digest(alphabet[:n]) + digest(alphabet[n:n+2])
	for i, c := range "aé世\xff😀z" {
		r.Range = r.Range*3 + int64(c)
		r.RangeIndex += int64(i) * n
	}
	for _, c := range alphabet {
		r.RangeRunes += int64(c) % (n + 1)
	}
	for range "" {
		r.RangeEmpty++
	}
	s := name(n)
	r.Argument, r.Result = digest(s), digest(name(n+3))
	if s == "few" {
		r.Equal = 1
	}
	if s != name(n+1) {
		r.Unequal = 1
	}
	if s == name(n*2) {
		r.Compared = 1
	}
	l := label{"label", n}
	if n > 3 {
		l.text = s
	}
	r.InStruct, r.Variable = digest(l.text), int64(len(l.text))
	if l == (label{"few", n}) {
		r.EqualStruct = 1
	}
	switch s {
	case "":
		r.Switch = 1
	case "few", "less":
		r.Switch = 2
	default:
		r.Switch = 3
	}
	var buffer [8]byte
	r.CopyOf = int64(copy(buffer[:], alphabet[n:]))
	r.Bytes = int64(buffer[3])
	t := "x"
	for i := range n {
		if i%2 == 1 {
			t = alphabet[i:]
		}
		r.Loop += int64(t[0])
		for k, c := range "héy" {
			r.RangeInLoop = r.RangeInLoop*2 + int64(c)*int64(k)
			if k == 1 && i == 2 {
				break
			}
			r.RangeBreak++
		}
	}
	r.Phi = digest(t)
	return r
}
