package pattern

import (
	"fmt"
	"regexp/syntax"
	"unicode"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// Go returns the texts that an expression of package regexp matches from the beginning to the end.
func Go(a *Alphabet, expression string) (*regular.Term, error) {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	n, err := convert(tree)
	if err != nil {
		return nil, err
	}
	return a.whole(n)
}

// convert returns the node of a syntax tree.
func convert(tree *syntax.Regexp) (*node, error) {
	n := &node{operation: joined}
	for _, sub := range tree.Sub {
		x, err := convert(sub)
		if err != nil {
			return nil, err
		}
		n.list = append(n.list, x)
	}
	switch tree.Op {
	case syntax.OpEmptyMatch, syntax.OpCapture, syntax.OpConcat:
	case syntax.OpNoMatch:
		return &node{}, nil
	case syntax.OpAlternate:
		n.operation = either
	case syntax.OpLiteral:
		for _, r := range tree.Rune {
			n.list = append(n.list, &node{ranges: folded(r, tree.Flags&syntax.FoldCase != 0)})
		}
	case syntax.OpCharClass:
		return &node{ranges: tree.Rune}, nil
	case syntax.OpAnyCharNotNL:
		return &node{ranges: complement([]rune{'\n', '\n'})}, nil
	case syntax.OpAnyChar:
		return &node{ranges: complement(nil)}, nil
	case syntax.OpStar:
		n.operation, n.least, n.most = looped, 0, regular.Unbounded
	case syntax.OpPlus:
		n.operation, n.least, n.most = looped, 1, regular.Unbounded
	case syntax.OpQuest:
		n.operation, n.least, n.most = looped, 0, 1
	case syntax.OpRepeat:
		n.operation, n.least, n.most = looped, int32(tree.Min), int32(tree.Max)
		if tree.Max < 0 {
			n.most = regular.Unbounded
		}
	case syntax.OpBeginText:
		n.operation = begin
	case syntax.OpEndText:
		n.operation = end
	default:
		return nil, fmt.Errorf("%w: %v", ErrUnsupported, tree.Op)
	}
	return n, nil
}

// folded returns a character, or all that differ from it in case.
func folded(r rune, fold bool) []rune {
	list := []rune{r, r}
	for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
		list = append(list, f, f)
	}
	return list
}
