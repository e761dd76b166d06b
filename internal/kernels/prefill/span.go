package prefill

// Span is consecutive tokens of a sequence whose queries are consecutive rows of Q and O: all tokens of the sequence, or its last
// ones.
type Span struct {
	Row, Count int32 // the first row, and the number of layout
	First      int32 // the position of the first token in its sequence
	Keys       int32 // the row of K and V for position 0 of the sequence; in pages, the sequence's row of the table
}

// Part is the work of a block: queries of a span. Its keys are those of positions 0 to Keys-1.
type Part struct {
	Row, Count int // of queries
	Position   int // of the first query
	Keys       int // that some query sees
	Clear      int // keys that all queries see
	From       int // Span.Keys
}

// Part returns the part with number at, of up to size queries, given the number of rows of K. Parts are numbered such that
// floor(Row/size) + i is the first one of span i: as spans do not overlap, each has a number for each of its parts. Numbers that have no
// part get a Count of 0 or less, and so do spans with negative numbers.
func (l *Layout) Part(spans []Span, at, size, rows int) Part {
	p := partOf(spans, at, size)
	p.Clear = p.Keys
	if l.Causal {
		p.Keys, p.Clear = p.Position+p.Count, p.Position+1
	}
	if l.Pages > 0 {
		rows = int(l.MaxPages) * PageTokens
	}
	p.Keys = min(p.Keys, rows+PageTokens) // with keys that do not exist, if there were more
	return p
}

// partOf returns the part for all keys of a span.
func partOf(spans []Span, at, size int) (p Part) {
	low, high := 0, len(spans)
	for low < high {
		if middle := int(uint(low+high) / 2); int(spans[middle].Row)/size+middle <= at {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return p
	}
	s := spans[low-1]
	first := (at - int(s.Row)/size - (low - 1)) * size
	if s.Row < 0 || s.First < 0 || s.Keys < 0 {
		return p
	}
	p = Part{Row: int(s.Row) + first, Count: min(int(s.Count)-first, size), Position: int(s.First) + first, From: int(s.Keys)}
	p.Keys = int(s.First) + int(s.Count)
	return p
}

// seen returns the number of keys that query i of the part sees.
func (p *Part) seen(i int) int { return min(p.Clear+i, p.Keys) }

// Layout is a Shape as kernels take it.
type Layout struct {
	Heads, KeyHeads, Dim int32
	Pages, MaxPages      int32
	Apart                int32 // as in Shape
	Causal               bool
	Scale                float32 // of the scores as exponents of 2
}

// stride returns the number of elements from one key of a head to the next one of a page, or of a sequence.
func (l *Layout) stride() int {
	if l.Pages > 0 {
		return int(l.Dim)
	}
	if l.Apart > 0 {
		return int(l.Apart)
	}
	return int(l.KeyHeads) * int(l.Dim)
}

// queryStride returns the number of elements from one query of a head to the next.
func (l *Layout) queryStride() int {
	if l.Apart > 0 {
		return int(l.Apart)
	}
	return int(l.Heads) * int(l.Dim)
}

// rows returns the number of rows of K, given its length, if there are no pages.
func (l *Layout) rows(length int) int {
	return (length + l.stride() - int(l.KeyHeads)*int(l.Dim)) / l.stride()
}

// Tile returns where the PageTokens keys from a position on are in K and V, given the number of rows of K: their first row, or, if there are
// pages, their page. It is negative if not all keys that the part has there exist.
func (l *Layout) Tile(p *Part, table []int32, position, rows int) int {
	if l.Pages == 0 {
		row := p.From + position
		if row+min(PageTokens, p.Keys-position) > rows {
			return -1
		}
		return row
	}
	number, page := -1, position/PageTokens
	if i := p.From*int(l.MaxPages) + page; page < int(l.MaxPages) && i < len(table) {
		number = int(table[i])
	}
	if number >= int(l.Pages) {
		return -1
	}
	return number
}

// first returns the index of a head of a tile's first key. Length is that of K.
func (l *Layout) first(p *Part, table []int32, at keyAt) int {
	tile := l.Tile(p, table, at.position, l.rows(at.length))
	switch {
	case tile < 0:
		return -1
	case l.Pages == 0:
		return tile*l.stride() + at.head*int(l.Dim)
	}
	return (tile*int(l.KeyHeads) + at.head) * PageTokens * int(l.Dim)
}

// keyAt is the first key of a tile: its position, a multiple of PageTokens, and its head. Length is that of K.
type keyAt struct{ position, head, length int }
