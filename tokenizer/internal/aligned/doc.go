// Package aligned represents text that keeps its alignment with an original
// string. A Text starts as the original string. Normalizers rewrite it,
// pre-tokenizers cut it, and Span reports the bytes of the original string that
// a range of the rewritten text stands for.
//
//	t := aligned.New("ＡB", true)
//	t = t.Rewrite([]aligned.Edit{{Rune: 'a'}, {Rune: 'b'}}, 0)
//	fmt.Println(t.S, t.Span(1, 2)) // ab {3 4}
//
// A text that is created with track false does not record spans when it is
// rewritten.
package aligned
