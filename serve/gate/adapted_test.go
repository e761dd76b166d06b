package gate_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// parrot is a model that answers with the adapter of a request.
type parrot struct{ gate.Tokenized }

func (p parrot) Chat(ctx context.Context, _ []chat.Message, r llm.Request) iter.Seq2[llm.Token, error] {
	return p.Generate(ctx, "", r)
}

func (p parrot) Generate(ctx context.Context, _ string, r llm.Request) iter.Seq2[llm.Token, error] {
	return p.Continue(ctx, nil, r)
}

func (parrot) Continue(_ context.Context, _ []int32, r llm.Request) iter.Seq2[llm.Token, error] {
	return func(yield func(llm.Token, error) bool) { yield(llm.Token{Text: r.Adapter}, nil) }
}

func TestAdapters(t *testing.T) {
	g := open(t, gate.Options{Models: map[string]gate.Model{"m": parrot{}}, Adapters: map[string]string{"b": "m", "a": "m"}, AnyName: true})
	if names, list := g.Names(), g.AdaptersOf("m"); !slices.Equal(names, []string{"a", "b", "m"}) || !slices.Equal(list, []string{"a", "b"}) || g.AdaptersOf("a") != nil {
		t.Errorf("the names are %q, those of adapters %q", names, list)
	}
	for name, want := range map[string]string{"": "", "m": "", "a": "a", "b": "b", "another": ""} {
		found, m, err := g.Find(t.Context(), name)
		if err != nil || found != name && found != "m" {
			t.Errorf("%q is %q, %v", name, found, err)
			continue
		}
		for i, list := range []iter.Seq2[llm.Token, error]{m.Chat(t.Context(), nil, llm.Request{}), m.Generate(t.Context(), "", llm.Request{}), m.(gate.Tokenized).Continue(t.Context(), nil, llm.Request{})} {
			for token := range list {
				if token.Text != want {
					t.Errorf("%q, method %d: the adapter is %q, want %q", name, i, token.Text, want)
				}
			}
		}
	}
	for what, o := range map[string]gate.Options{
		"no such model":      {Models: map[string]gate.Model{"m": parrot{}}, Adapters: map[string]string{"a": "x"}},
		"no tokenizer":       {Models: map[string]gate.Model{"m": silent{}}, Adapters: map[string]string{"a": "m"}},
		"the same name":      {Models: map[string]gate.Model{"m": parrot{}}, Adapters: map[string]string{"m": "m"}},
		"the name of others": {Models: map[string]gate.Model{"m": parrot{}}, Others: []string{"o"}, Adapters: map[string]string{"o": "m"}},
	} {
		if _, err := gate.New(o); !errors.Is(err, gate.ErrOptions) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
