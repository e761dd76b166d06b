package ir

// A Note records what a pass did to a loop or to a kernel, for reports on the code. It has no effect
// and is not part of the text form.
type Note struct {
	Pos   Pos
	Kind  NoteKind
	Count int // of iterations, for Joined the number that one iteration replaces, and for KernelVersioned the number of checks
}

// NoteKind is the kind of a transformation.
type NoteKind string

// Kinds of notes.
const (
	Unrolled        NoteKind = "unrolled"  // fully unrolled
	Joined          NoteKind = "joined"    // unrolled by Count
	TooLarge        NoteKind = "too large" // not unrolled by Count, as a directive demands
	LoopVersioned   NoteKind = "versioned" // a copy runs without checks if a test before the loop passes
	KernelVersioned NoteKind = "bounded"   // the kernel runs without Count checks if a test at its start passes
)

// Note adds a note.
func (f *Func) Note(n Note) { f.Notes = append(f.Notes[:len(f.Notes):len(f.Notes)], n) }
