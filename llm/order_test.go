package llm

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestOrder checks in which order texts get places. A text is its user and a priority; one with an exclamation mark has had a place, and
// one with a plus follows the text before it.
func TestOrder(t *testing.T) {
	for _, c := range []struct{ name, arrive, want string }{
		{"arrival", "a0 b0 c0", "a0 b0 c0"},
		{"priorities", "a0 a1 a- a0 a-", "a- a- a0 a0 a1"},
		{"users in turn", "a0 a0 a0 a0 b0 c0 b0 d1", "a0 b0 c0 a0 b0 a0 a0 d1"},
		{"turns of each priority", "a0 b1 a1 b0", "a0 b0 a1 b1"},
		{"dropped texts first", "a0 b0 c0! d0!", "c0! d0! a0 b0"},
		{"dropped texts of others", "a0 c1!", "a0 c1!"},
		{"texts of one request", "a0 a0+ b0", "a0 b0 a0+"},
	} {
		var waiting []*sequence
		names := map[*sequence]string{}
		for i, name := range strings.Fields(c.arrive) {
			q := &sequence{number: uint64(i), request: Request{User: name[:1], Priority: strings.IndexByte("-01", name[1]) - 1}}
			if strings.HasSuffix(name, "!") {
				q.placed = time.Now()
			}
			if strings.HasSuffix(name, "+") {
				q.after = waiting[len(waiting)-1]
			}
			names[q], waiting = name, insert(waiting, q)
		}
		var got []string
		var turns turns
		for len(waiting) > 0 {
			q := turns.next(waiting)
			waiting = slices.DeleteFunc(waiting, func(x *sequence) bool { return x == q })
			turns.took(q, waiting)
			q.begun = true
			got = append(got, names[q])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, got, c.want)
		}
	}
	q := &sequence{after: &sequence{}}
	var turns turns
	if got := turns.next([]*sequence{q}); got != nil {
		t.Errorf("a text whose prompt is being computed gets a place")
	}
}
