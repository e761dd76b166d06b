package vasm

// before returns the position of the line before p.
func (p Pos) before() Pos {
	p.Line = max(0, p.Line-1)
	return p
}

// shortRun is how many instructions between instructions of one line take the position of that line. Compilers move
// instructions between lines, and a line directive for each of them would be a tenth of the text.
const shortRun = 3

// mergeLines gives short runs of instructions of one line the position of the instructions around them, if these are of one
// line.
func mergeLines(code []inst) {
	type run struct{ first, end, count int }
	var runs []run
	for i, in := range code {
		if _, isLabel := in.label(); isLabel || in.op == "" {
			continue
		}
		if n := len(runs); n > 0 && code[runs[n-1].first].pos == in.pos {
			runs[n-1].end, runs[n-1].count = i+1, runs[n-1].count+1
		} else {
			runs = append(runs, run{i, i + 1, 1})
		}
	}
	for k := 1; k+1 < len(runs); k++ {
		before, after := code[runs[k-1].first].pos, code[runs[k+1].first].pos
		if before != after || runs[k].count > shortRun {
			continue
		}
		for i := runs[k].first; i < runs[k].end; i++ {
			code[i].pos = before
		}
	}
}
