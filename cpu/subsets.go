package cpu

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// subsets are the meeting points of sets of lanes of a warp, other than the set of all. A set gets its point
// when the first thread names it.
type subsets struct {
	mu     sync.Mutex
	alive  uint32 // lanes whose threads have not left
	points []subset
}

type subset struct {
	lanes uint32
	*meetingPoint
}

// begin resets s for a warp of n threads.
func (s *subsets) begin(n int) { s.alive, s.points = simt.AllLanes>>(simt.WarpSize-n), s.points[:0] }

// point returns the point of a set.
func (s *subsets) point(lanes uint32) *meetingPoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.points, func(p subset) bool { return p.lanes == lanes })
	if i < 0 {
		i = len(s.points)
		s.points = append(s.points, subset{lanes, &meetingPoint{members: bits.OnesCount32(lanes & s.alive)}})
	}
	return s.points[i].meetingPoint
}

// leave removes a lane, and returns the points that its thread was a member of.
func (s *subsets) leave(lane int) (of []*meetingPoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive &^= 1 << lane
	for _, p := range s.points {
		if p.lanes>>lane&1 == 1 {
			of = append(of, p.meetingPoint)
		}
	}
	return of
}

func (s *subsets) all() (points []*meetingPoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.points {
		points = append(points, p.meetingPoint)
	}
	return points
}
