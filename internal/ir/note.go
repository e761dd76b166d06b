package ir

// Note says what a pass did to a loop, or to a kernel, for reports on the code. It means nothing and is not part of the text
// form.
type Note struct {
	Pos    Pos
	Kind   NoteKind
	Rounds int // that were put in a row; of Bounded, checks
}

// NoteKind is what was done.
type NoteKind string

// Kinds of notes.
const (
	Unrolled  NoteKind = "unrolled"  // there is no loop any more
	Joined    NoteKind = "joined"    // so many rounds are one
	Versioned NoteKind = "versioned" // a copy runs without checks where a test in front allows
	Bounded   NoteKind = "bounded"   // the kernel runs without so many checks where a test at its start allows
)

// Note adds a note.
func (f *Func) Note(n Note) { f.Notes = append(f.Notes[:len(f.Notes):len(f.Notes)], n) }
