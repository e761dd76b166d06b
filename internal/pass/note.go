package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// note remembers for reports what became of a loop, by a place in it.
func note(l *analysis.Loop, kind ir.NoteKind, rounds int) {
	l.Header.Func.Note(ir.Note{Kind: kind, Rounds: rounds, Pos: l.Latches[0].Term().Pos})
}
