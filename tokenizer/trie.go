package tokenizer

// trie finds the tokens of a set in a string. At each offset it prefers the
// longest.
type trie struct {
	first [256]bool // bytes that start a token
	nodes []node
}

// node is a prefix of tokens.
type node struct {
	next  map[byte]int32
	token *addedToken // that ends here, or nil
}

func newTrie() *trie { return &trie{nodes: make([]node, 1)} }

// put adds a token.
func (tr *trie) put(tok *addedToken) {
	s := tok.spelled
	if s == "" {
		return
	}
	tr.first[s[0]] = true
	at := int32(0)
	for i := range len(s) {
		n := &tr.nodes[at]
		if n.next == nil {
			n.next = map[byte]int32{}
		}
		next, ok := n.next[s[i]]
		if !ok {
			next = int32(len(tr.nodes))
			n.next[s[i]] = next
			tr.nodes = append(tr.nodes, node{})
		}
		at = next
	}
	if tr.nodes[at].token == nil {
		tr.nodes[at].token = tok
	}
}

// find returns the first token in s at or after offset i, or nil.
func (tr *trie) find(s string, i int) (start, end int, tok *addedToken) {
	if len(tr.nodes) == 1 {
		return 0, 0, nil
	}
	for ; i < len(s); i++ {
		if !tr.first[s[i]] {
			continue
		}
		if end, tok := tr.longest(s, i); tok != nil {
			return i, end, tok
		}
	}
	return 0, 0, nil
}

// longest returns the longest token that starts at offset i of s, or nil.
func (tr *trie) longest(s string, i int) (end int, tok *addedToken) {
	at := int32(0)
	for ; i < len(s); i++ {
		next, ok := tr.nodes[at].next[s[i]]
		if !ok {
			break
		}
		at = next
		if t := tr.nodes[at].token; t != nil {
			end, tok = i+1, t
		}
	}
	return end, tok
}
