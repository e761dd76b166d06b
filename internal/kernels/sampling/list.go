package sampling

import "github.com/gopherwarp/gopherwarp/gpu"

// listLength is the number of tokens that a list holds: at least those of a tile.
const listLength = tileTokens

// list is some tokens of a row, with their keys or weights, in any order. They use the memory of a histogram, which is not needed any more.
type list struct {
	values, tokens *[listLength]int32
	*listHead
}

// listHead is what a list has besides its tokens.
type listHead struct {
	length uint32
	result [2]int64
}

// list returns the list of a block.
func (a *arena) list() list {
	return list{(*[listLength]int32)(a.hist.low[:listLength]), (*[listLength]int32)(a.hist.low[listLength:]), &a.head}
}

// clear empties the list, for all threads.
func (l list) clear(t gpu.Thread) {
	t.Sync()
	if t.ThreadX() == 0 {
		l.length = 0
	}
	t.Sync()
}

// add adds a token.
func (l list) add(value int32, token int) {
	if i := int(gpu.AtomicAdd(&l.length, 1, gpu.BlockScope)); i < listLength {
		l.values[i], l.tokens[i] = value, int32(token)
	}
}

// query is what entries are compared by, and which of them are added up: those whose values are at least a floor.
type query struct {
	rank   *[listLength]int32
	single bool // entries count as 1, not as their values
	floor  int32
}

// sumOf returns the sum of the entries whose rank is at least least, for a warp.
func (l list) sumOf(t gpu.Thread, q query, least int32) int64 {
	var low, high uint32
	for i := t.Lane(); i < int(l.length); i += gpu.WarpSize {
		if l.values[i] >= q.floor && q.rank[i] >= least {
			w := uint32(1)
			if !q.single {
				w = uint32(l.values[i])
			}
			low, high = low+w&(1<<halfBits-1), high+w>>halfBits
		}
	}
	return int64(gpu.WarpReduceAdd(t, low)) + int64(gpu.WarpReduceAdd(t, high))<<halfBits
}

// rankOf returns the greatest rank within bounds such that the entries from it on add up to what is needed, for a warp.
func (l list) rankOf(t gpu.Thread, q query, in bounds) int32 {
	for in.low < in.high {
		middle := int32((int64(in.low) + int64(in.high) + 1) >> 1)
		if l.sumOf(t, q, middle) >= in.need {
			in.low = middle
		} else {
			in.high = middle - 1
		}
	}
	return in.low
}
