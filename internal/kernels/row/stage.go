package row

import "github.com/gopherwarp/gopherwarp/gpu"

// Stage is a thread's part of a row: the Words Me, Me+Size and so on. The first of them are copied to shared memory before the
// passes over them, all at once, so that many bytes are in flight. A pass is
//
//	for i, slot := s.Me, s.Slot; i < uint32(len(s.X)); i, slot = i+s.Size, slot+s.Step {
//		w := s.At(i, slot)
//	}
//
// Indices have no sign, so that the compiler knows that they are not negative.
type Stage struct {
	X, Held    []Words // Held is the block's shared memory
	Me, Size   uint32  // of the team
	Slot, Step uint32  // index of the thread's first Words in Held, and the distance of the next
}

// NewStage returns a thread's part of a row, given the shared memory of its block.
func NewStage(t gpu.Thread, team Team, x, held []Words) Stage {
	return Stage{x, held, uint32(team.Me), uint32(team.Size), uint32(t.ThreadY()*t.BlockDimX() + t.ThreadX()), uint32(t.BlockDimX() * t.BlockDimY())}
}

// Load copies to shared memory.
func (s *Stage) Load(t gpu.Thread) {
	for i, slot := s.Me, s.Slot; i < uint32(len(s.X)) && slot < uint32(len(s.Held)); i, slot = i+s.Size, slot+s.Step {
		gpu.CopyAsync(t, &s.Held[slot], &s.X[i])
	}
	t.CommitCopies()
	t.WaitCopies(0)
}

// At returns Words i, whose place in shared memory is slot if that exists.
func (s *Stage) At(i, slot uint32) Words {
	if slot < uint32(len(s.Held)) {
		return s.Held[slot]
	}
	return s.X[i]
}
