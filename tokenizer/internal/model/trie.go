package model

import (
	"cmp"
	"slices"
)

// trie finds the tokens of a vocabulary that a text begins with. The nodes are in the order of a breadth-first search, so that the children
// of a node are neighbours, and a node's children end where those of the next one begin. A vocabulary of 250,000 tokens takes 9 bytes for
// each of a million nodes.
type trie struct {
	labels []byte // the last byte of the text that leads to a node
	nodes  []trieNode
	tables [][256]int32 // the children of nodes that have many, by their labels, or 0
}

// trieNode is a node of a trie.
type trieNode struct {
	first int32 // child
	id    int32 // of the token that ends here, or -1
	table int32 // -1 if the node has few children
}

// manyChildren is the number of children from which on a node has a table.
const manyChildren = 8

// newTrie returns the trie of tokens, whose IDs are their indices. Of equal tokens the last counts. It ignores empty ones.
func newTrie(tokens []string) *trie {
	order := make([]int32, len(tokens))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(tokens[a], tokens[b]), int(a-b)) })
	t := &trie{labels: []byte{0}}
	begin := []run{{0, int32(len(order)), 0}} // of the tokens that begin with the text of each node
	for at := 0; at < len(begin); at++ {
		r := begin[at]
		n := trieNode{first: int32(len(t.labels)), id: -1, table: -1}
		for r.first < r.end && len(tokens[order[r.first]]) == int(r.length) {
			n.id = order[r.first]
			r.first++
		}
		for r.first < r.end {
			label, next := tokens[order[r.first]][r.length], r.first+1
			for next < r.end && tokens[order[next]][r.length] == label {
				next++
			}
			t.labels, begin = append(t.labels, label), append(begin, run{r.first, next, r.length + 1})
			r.first = next
		}
		if labels := t.labels[n.first:]; len(labels) >= manyChildren {
			n.table = int32(len(t.tables))
			t.tables = append(t.tables, [256]int32{})
			for i, label := range labels {
				t.tables[n.table][label] = n.first + int32(i)
			}
		}
		t.nodes = append(t.nodes, n)
	}
	t.nodes = append(t.nodes, trieNode{first: int32(len(t.labels)), id: -1})
	return t
}

// run is a range of sorted tokens that begin with the same bytes.
type run struct {
	first, end int32
	length     int32 // the number of these bytes
}

// child returns the node that a byte leads to, or 0 if there is none.
func (t *trie) child(node int32, b byte) int32 {
	n := t.nodes[node]
	if n.table >= 0 {
		return t.tables[n.table][b]
	}
	for i, label := range t.labels[n.first:t.nodes[node+1].first] {
		if label == b {
			return n.first + int32(i)
		}
	}
	return 0
}
