package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// note records what a pass did to a loop, for reports.
func note(l *analysis.Loop, kind ir.NoteKind, count int) {
	l.Header.Func.Note(ir.Note{Kind: kind, Count: count, Pos: l.Latches[0].Term().Pos})
}
