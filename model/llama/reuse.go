package llama

// Origin is what sequences that share pages have in common beside their tokens.
type Origin struct {
	Adapter int    // the number of an adapter of Model.AdaptEach's Set plus 1, or 0 for none
	Salt    string // anything
}

// Reuse looks up a sequence's next tokens in the pages of other sequences, present and past. It gives the sequence the pages that it finds,
// and returns the number of tokens that the sequence then has. tokens are those of the sequence from the first on, and may be longer than what the cache has. A call sets
// the Origin of a sequence only while the sequence is empty. The sequence's tokens are computed with the adapter of its Origin. Only full pages are shared;
// the last page of a sequence that has been released is one that its successor continues. Nothing happens if Keep has not seen all tokens
// of the sequence.
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

// Keep says which tokens a sequence has, from the first on. Its full pages can then be reused by others.
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

// Release removes a sequence, whose tokens are those given, from the first on. They can be reused until their memory is needed: pages that
// were not used for the longest time are overwritten first.
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

// Reset removes all sequences, and all tokens that could be reused.
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
