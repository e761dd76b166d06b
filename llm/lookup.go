package llm

// The numbers of last tokens of a text that must have occurred before, at least and at most.
const (
	leastMatch = 2
	mostMatch  = 4
)

// lookup guesses that a text continues as it did where its last tokens occurred before (Saxena, "Prompt Lookup Decoding").
type lookup struct{}

func (lookup) guess(list []*sequence, most []int) ([][]int32, error) {
	guesses := make([][]int32, len(list))
	for i, q := range list {
		guesses[i] = continuation(q.tokens, most[i])
	}
	return guesses, nil
}

func (lookup) reset() {}

func (lookup) close() error { return nil }

// continuation returns n tokens that continue tokens as they continued after the longest match of their end, of several the last one. It
// returns nil if there is none. A match that is closer than n tokens repeats: the result may contain copies of its own first tokens.
func continuation(tokens []int32, n int) []int32 {
	at, longest := 0, leastMatch-1
	for end := len(tokens) - 1; end > longest && longest < mostMatch; end-- {
		if m := matching(tokens, end); m > longest {
			at, longest = end, m
		}
	}
	if at == 0 || n <= 0 {
		return nil
	}
	guess := make([]int32, n)
	for i := range guess {
		if j := at + i; j < len(tokens) {
			guess[i] = tokens[j]
		} else {
			guess[i] = guess[j-len(tokens)]
		}
	}
	return guess
}

// matching returns how many of the last tokens occur before token number end, at most mostMatch.
func matching(tokens []int32, end int) int {
	m := 0
	for m < min(end, mostMatch) && tokens[end-1-m] == tokens[len(tokens)-1-m] {
		m++
	}
	return m
}
