package llama

// An Origin determines which sequences may share pages: only those with equal Origins.
type Origin struct {
	Adapter int    // 1 plus the number of the adapter in the Set of Model.AdaptEach, or 0 for none
	Salt    string // any text that separates sequences; see llm.Request.Salt
}

// Reuse looks for the next tokens of a sequence in other sequences, including released ones. It gives the pages that it finds to the sequence,
// and returns the number of tokens that the sequence then has. The argument tokens has all tokens of the sequence, from the first on,
// including those that the cache does not have yet. If the sequence is empty, Reuse sets its Origin.
//
// Reuse leaves a sequence unchanged if its last page is not full, or if one of its pages has tokens that were neither passed to Keep
// nor found by Reuse.
func (c *Cache) Reuse(sequence int, origin Origin, tokens []int32) int {
	r := &c.list[sequence]
	if r.length == 0 {
		r.origin = origin
	}
	if r.length != r.kept*PageTokens {
		return r.length
	}
	for len(tokens) >= r.length+PageTokens {
		i, ok := c.pool.find(r.key(tokens))
		if !ok {
			break
		}
		c.pool.share(i)
		r.pages, r.kept, r.length = append(r.pages, i), r.kept+1, r.length+PageTokens
	}
	if i, known := c.pool.resume(r.root(), tokens[min(r.length, len(tokens)):]); known > 0 {
		r.pages, r.length = append(r.pages, i), r.length+known
	}
	return r.length
}

// Keep records the tokens of a sequence, from the first token on. After that, other sequences can reuse the full pages of the sequence.
func (c *Cache) Keep(sequence int, tokens []int32) {
	r := &c.list[sequence]
	for min(len(tokens), r.length) >= (r.kept+1)*PageTokens {
		own := r.pages[r.kept]
		if r.pages[r.kept] = c.pool.name(own, r.key(tokens)); r.pages[r.kept] != own {
			r.uploaded = min(r.uploaded, r.kept)
		}
		r.kept++
	}
}

// Release removes a sequence. The argument tokens has its tokens, from the first token on. Later sequences can reuse the keys and values of
// these tokens until their memory is needed.
func (c *Cache) Release(sequence int, tokens []int32) {
	c.Keep(sequence, tokens)
	r := &c.list[sequence]
	from, to := r.kept*PageTokens, min(len(tokens), r.length)
	if from < to {
		c.pool.end(r.pages[r.kept], r.root(), append([]int32(nil), tokens[from:to]...))
	}
	c.Truncate(sequence, 0)
	r.origin = Origin{}
}

// Reset removes all sequences, and all tokens that later sequences could reuse.
func (c *Cache) Reset() {
	clear(c.list)
	c.pool = newPool(len(c.pool.pages))
}

// Cost returns how many unused pages a new sequence with this Origin and these tokens would take. A page is unused if no sequence has it.
func (c *Cache) Cost(origin Origin, tokens []int32) int {
	r, shared := row{origin: origin}, 0
	for len(tokens) >= (r.kept+1)*PageTokens {
		i, ok := c.pool.find(r.key(tokens))
		if !ok {
			break
		}
		if c.pool.pages[i].users > 0 {
			shared++
		}
		r.pages, r.kept = append(r.pages, i), r.kept+1
	}
	return pagesOf(len(tokens)) - shared
}

// root returns what precedes the first page of a sequence that has no key.
func (r *row) root() root {
	if r.kept == 0 {
		return root{-1, r.origin}
	}
	return root{page: r.pages[r.kept-1]}
}

// key returns the key of that page.
func (r *row) key(tokens []int32) key {
	return key{r.root(), [PageTokens]int32(tokens[r.kept*PageTokens:])}
}
