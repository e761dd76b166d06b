package ptxinterp

import (
	"encoding/binary"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// maxFindings is how many of them Synchronize returns; a program with more has one mistake all
// over it.
const maxFindings = 20

// keep adds what a launch found to what Wait returns. Where a thread has faulted, its panic is the news: others may
// have gone on without what it left undone.
func (q *queue) keep(found []machine.Finding) {
	if q.env != nil && binary.LittleEndian.Uint32(q.env.Head[driver.EnvClaim:]) != 0 {
		return
	}
	for _, f := range found {
		if !q.counted(f) && len(q.found) < maxFindings {
			q.found = append(q.found, f)
		}
	}
}

// counted adds f to a finding of an earlier launch that is the same.
func (q *queue) counted(f machine.Finding) bool {
	for _, g := range q.found {
		if g.Add(f) {
			return true
		}
	}
	return false
}

// named returns "x[7]" for an address in the memory of an argument, or the empty string.
func named(k *driver.Kernel, params []byte, address uint64) string {
	for _, p := range k.Params {
		if p.Elem == 0 {
			continue
		}
		start := binary.LittleEndian.Uint64(params[p.Offset:])
		n := binary.LittleEndian.Uint64(params[p.Offset+8:])
		if offset := address - start; offset < n*uint64(p.Elem) {
			return fmt.Sprintf("%s[%d]", p.Name, offset/uint64(p.Elem))
		}
	}
	return ""
}
