package sampling

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// action is what a stage does with the tokens whose value is at least the stage's floor.
type action int32

const (
	nothing action = iota
	fill           // the list gets them
	count          // the histogram gets them, by rank
	addUp          // their weights are added up for each tile
)

// state is what a stage is for.
type state int32

const (
	probe         state = iota // begins with greatest, and finds a key below which top-k keeps none
	greatest                   // finds the greatest logit and, for top-k, the first histogram of keys
	listKeys                   // lists what top-k may keep
	narrowKeys                 // a histogram of keys
	totalWeight                // adds up all weights, for top-p
	narrowWeights              // a histogram of weights
	tileWeights                // adds up the weights that are kept
	listTile                   // lists the tile of the token
	probability                // adds up weights without temperature, for the token's probability
	done
)

// maxStages is the largest number of stages of a row: of histograms, those of keys have 12, 12 and 8 bits, those of weights 12, 12
// and 4.
const maxStages = 11

// probeTiles is the number of tiles of a long row whose keys are all in the first histogram. Of the others, it gets those only that
// may be among the greatest.
const probeTiles = 4

// stage is what a pass over the row does. Values are keys, which count as 1, or weights.
type stage struct {
	all      []Params // of all rows; they are read again rather than kept in registers
	at       int      // the row
	position int32

	state     state
	action    action
	from, to  int  // tiles
	weighs    bool // values are weights
	floor     int32
	low, span uint32 // of the ranks in the histogram: from low to low+span
	shift     uint32 // a bucket has 1<<shift ranks

	own          top     // of the thread
	top, inverse float32 // the greatest logit, and the reciprocal of the temperature
	leastKey     int32   // that top-k keeps
	leastWeight  int32   // that top-p and min-p keep
	need         int64   // the sum that is looked for in the histogram or the list
	cut          bool    // top-k keeps fewer than all
	sum          int64   // of weights
	token        int32
}

// first returns the first stage of a row.
func first(t gpu.Thread, all []Params, position int32, r *wideRow) stage {
	s := stage{all: all, at: r.at, position: position, state: greatest, floor: excluded, token: -1, leastKey: lowest + 1, span: math.MaxUint32, shift: keyShift, own: top{excluded, math.MaxInt32}}
	if p := s.params(); p.cuts(r.end - r.start) {
		s.read(r, greatest, count)
		s.cut, s.need = true, int64(p.TopK)
		if s.to > 2*probeTiles {
			s.state, s.to = probe, probeTiles
		}
	} else if t.ThreadX() < len(r.best) {
		s.own = r.best[t.ThreadX()]
	}
	return s
}

// params returns the parameters of the row.
func (s *stage) params() *Params { return &s.all[s.at] }

// read makes a stage of all tiles.
func (s *stage) read(r *wideRow, is state, does action) {
	s.state, s.action, s.from, s.to = is, does, 0, r.tileCount()
}

// advance ends a stage and begins the next.
func (s *stage) advance(t gpu.Thread, r *wideRow) {
	var c crossing
	if s.action == count {
		c = r.hist.crossing(t, s.need)
		if s.state == probe {
			s.floor = keyOfRank(c.bucket << s.shift)
			s.state, s.from, s.to = greatest, s.to, r.tileCount()
			return
		}
		s.low, s.need = s.low+c.bucket<<s.shift, s.need-c.after
	}
	if s.action == addUp {
		s.sum = 0
		for tile := range r.tileCount() {
			s.sum += r.tiles[tile]
		}
	}
	switch s.state {
	case greatest:
		s.found(t, r, c)
	case narrowKeys:
		if s.narrowed(t, r) {
			s.leastKey = max(lowest+1, keyOfRank(s.low))
			s.beginWeights(r)
		}
	case totalWeight:
		s.read(r, narrowWeights, count)
		s.low, s.span, s.shift, s.need = 0, 26<<23, 16, s.params().share(s.sum)
		r.hist.clear(t)
	case narrowWeights:
		if s.narrowed(t, r) {
			s.leastWeight = max(s.leastWeight, weightOfRank(s.low))
			s.beginTiles(r)
		}
	case tileWeights:
		s.drawTile(t, r)
	case listKeys, listTile:
		s.pick(t, r.list())
		s.beginProbability(r)
	default:
		s.state = done
	}
}

// found goes on from the greatest logit and the histogram of keys.
func (s *stage) found(t gpu.Thread, r *wideRow, c crossing) {
	key := int32(r.max(t, int64(s.own.key)))
	if key <= lowest {
		s.state = done
		return
	}
	s.top = logitOf(key)
	if !(s.params().Temperature > 0) {
		if s.own.key != key {
			s.own.token = math.MaxInt32
		}
		s.token = int32(-r.max(t, -int64(s.own.token)))
		s.beginProbability(r)
		return
	}
	s.inverse, s.leastWeight = 1/s.params().Temperature, s.params().leastWeight()
	if !s.cut {
		s.beginWeights(r)
		return
	}
	s.leastKey = max(s.leastKey, keyOfRank(s.low))
	if c.from <= listLength {
		s.read(r, listKeys, fill)
		s.floor = s.leastKey
		r.list().clear(t)
		return
	}
	s.read(r, narrowKeys, count)
	s.floor = excluded
	s.narrowed(t, r)
}

// narrowed reports whether the rank of the threshold is known, and otherwise makes a stage of a histogram of the ranks in its bucket.
func (s *stage) narrowed(t gpu.Thread, r *wideRow) bool {
	if s.shift == 0 {
		return true
	}
	s.span, s.shift = 1<<s.shift-1, s.shift-min(s.shift, bucketBits)
	r.hist.clear(t)
	return false
}

// beginWeights makes a stage of weights.
func (s *stage) beginWeights(r *wideRow) {
	s.weighs, s.floor = true, 1
	if s.params().TopP > 0 && s.params().TopP < 1 {
		s.read(r, totalWeight, addUp)
	} else {
		s.beginTiles(r)
	}
}

// beginTiles makes a stage that adds up the weights that are kept.
func (s *stage) beginTiles(r *wideRow) {
	s.read(r, tileWeights, addUp)
	s.floor = s.leastWeight
}

// beginProbability makes the stage for the token's probability, if it is wanted.
func (s *stage) beginProbability(r *wideRow) {
	if !s.params().Logprobs {
		s.state = done
		return
	}
	s.read(r, probability, addUp)
	s.weighs, s.floor, s.inverse, s.leastKey = true, 1, 1, lowest+1
}

// drawTile draws a number, and makes a stage that lists the tile of the token.
func (s *stage) drawTile(t gpu.Thread, r *wideRow) {
	rest, tile := draw(s.params().Seed, s.position, s.sum), 0
	for tile < r.tileCount()-1 && rest >= r.tiles[tile] {
		rest -= r.tiles[tile]
		tile++
	}
	s.state, s.action, s.from, s.to, s.need = listTile, fill, tile, tile+1, r.tiles[tile]-rest
	r.list().clear(t)
}

// weigh returns the weight of a logit, or -1 if top-k does not keep it.
func (s *stage) weigh(z float32, key int32) int32 {
	if key < s.leastKey {
		return -1
	}
	return weightOf(z, s.top, s.inverse)
}

// pick chooses a token from the list.
func (s *stage) pick(t gpu.Thread, l list) {
	if s.state == listKeys {
		s.cutList(t, l)
	}
	if t.Warp() == 0 {
		token := l.rankOf(t, query{rank: l.tokens, floor: s.leastWeight}, bounds{0, math.MaxInt32, s.need})
		if t.Lane() == 0 {
			l.result[0] = int64(token)
		}
	}
	t.Sync()
	s.token = int32(l.result[0])
}

// cutList turns the keys of the list into weights, finds the threshold of top-p, and draws a number.
func (s *stage) cutList(t gpu.Thread, l list) {
	if t.Warp() == 0 {
		least := l.rankOf(t, query{rank: l.values, single: true, floor: excluded}, bounds{s.leastKey, keyOf(s.top), int64(s.params().TopK)})
		if t.Lane() == 0 {
			l.result[0] = int64(least)
		}
	}
	t.Sync()
	s.leastKey = int32(l.result[0])
	for i := t.ThreadX(); i < int(l.length); i += wideThreads {
		key := l.values[i]
		l.values[i] = s.weigh(logitOf(key), key)
	}
	t.Sync()
	if t.Warp() == 0 {
		q, least := query{rank: l.values}, s.leastWeight
		if p := s.params(); p.TopP > 0 && p.TopP < 1 {
			least = max(least, l.rankOf(t, q, bounds{0, one, p.share(l.sumOf(t, q, 0))}))
		}
		if total := l.sumOf(t, q, least); t.Lane() == 0 {
			l.result = [2]int64{int64(least), total}
		}
	}
	t.Sync()
	s.leastWeight = int32(l.result[0])
	s.need = l.result[1] - draw(s.params().Seed, s.position, l.result[1])
	t.Sync()
}
