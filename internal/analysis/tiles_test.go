package analysis

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// pipelined starts two products in each iteration and then waits for all but the last LEAVE of them.
const pipelined = `
kernel pipelined(%0 ptr @0, %1 i1 @8, %2 i32 @12) bytes 16 {
b0:
	%3 = const f32 0
	jump b1
b1: <- b0 b1
	%4 = add i32 %2, %2
	%5 = mul i32 %2, %2
	%6 = wgmmatiles [4]f32 %0, %4, %4, %4, %2, %3, %3, %3, %3 {1}
	wgmmacommit
	%8 = wgmmatiles [4]f32 %0, %5, %5, %5, %2, %3, %3, %3, %3 {1}
	wgmmacommit
	%10 = extract f32 %6 {0}
	%11 = wgmmawait [4]f32 %10, %10, %10, %10 {LEAVE}
	if %1 b1 b2
b2: <- b1
	%13 = wgmmawait [4]f32 %10, %10, %10, %10 {0}
	ret
}`

func TestTiles(t *testing.T) {
	for _, test := range []struct {
		leave         string
		inLoop, after []int
		reused        int
	}{
		{"0", []int{2, 4, 5}, nil, 0},
		{"1", []int{4}, []int{2, 5}, 5},
		{"2", nil, []int{2, 4, 5}, 4},
	} {
		f, values := parse(t, strings.ReplaceAll(pipelined, "LEAVE", test.leave))
		tiles := NewTiles(f)
		ids := func(wait int) (ids []int) {
			for _, v := range tiles.Awaited[values[wait]] {
				ids = append(ids, v.ID)
			}
			return ids
		}
		if got := ids(11); !slices.Equal(got, test.inLoop) {
			t.Errorf("a wait that leaves %s: awaits %v, want %v", test.leave, got, test.inLoop)
		}
		if got := ids(13); !slices.Equal(got, test.after) {
			t.Errorf("after a wait that leaves %s: awaits %v, want %v", test.leave, got, test.after)
		}
		if got := id(tiles.Reused); got != test.reused {
			t.Errorf("a wait that leaves %s: %d is reused, want %d", test.leave, got, test.reused)
		}
	}
}

func id(v *ir.Value) int {
	if v == nil {
		return 0
	}
	return v.ID
}
