package ptxtext

// span is a part of a text.
type span struct{ start, end int }

// recent lists the latest different directives of a text, which are mostly .loc lines, the latest first.
type recent struct {
	at [digits]span
}

// use returns line i, which becomes the latest. If there is no line i, it returns the empty span.
func (r *recent) use(i int) span {
	at := r.at[i]
	copy(r.at[1:i+1], r.at[:i])
	r.at[0] = at
	return at
}

// add makes a line of text the latest, unless it is already.
func (r *recent) add(text []byte, line span) {
	if line.end-line.start > maxCopy {
		return
	}
	if latest := r.at[0]; string(text[latest.start:latest.end]) == string(text[line.start:line.end]) {
		return
	}
	copy(r.at[1:], r.at[:])
	r.at[0] = line
}
