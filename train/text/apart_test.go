package text_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// merging returns options with a tokenizer of which many tokens have several characters.
func merging(t *testing.T, name string) text.Options {
	t.Helper()
	tok, err := tokenizer.Open(filepath.Join("..", "..", "tokenizer", "testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return text.Options{Tokenizer: tok, Length: 100}
}

// TestApart says that a prompt has the tokens in training that it has alone, also if it ends in the middle of a token of the whole text. If it does
// not, the tokens are those of the whole text.
func TestApart(t *testing.T) {
	plain := tokenizer.Options{PlainText: true}
	for _, name := range []string{"smollm", "llama2"} {
		o := merging(t, name)
		apart := 0
		for _, x := range []struct {
			prompt, completion string
			usual              bool // the tokens are those of the whole text
		}{
			{"The capital of France is", " the other", true}, {"the:", " and the", true}, {"Hello,", " world!", true}, {"a\n", "b c", true}, {"", "the", true},
			{"The capital of France is ", "the other", false}, {"the: ", "and the", false}, {"th", "e other", false}, {"the\n", "\nand", false}, {"the ", " and", false},
			{"the ", "", true},
		} {
			e, err := o.Encode(text.Record{Prompt: &text.Content{Text: x.prompt}, Completion: &x.completion})
			if err != nil {
				t.Fatal(err)
			}
			prompt, whole := o.Tokenizer.EncodeWith(x.prompt, plain).IDs, o.Tokenizer.EncodeWith(x.prompt+x.completion, plain).IDs
			n := len(prompt)
			if n > len(e.Tokens) || !slices.Equal(e.Tokens[:n], prompt) || slices.Contains(e.Learned[:n], true) || slices.Contains(e.Learned[n:], false) {
				t.Errorf("%s: %q with %q has the tokens %d, learned %v; the prompt alone has %d", name, x.prompt, x.completion, e.Tokens, e.Learned, prompt)
			}
			if got := strings.TrimPrefix(o.Tokenizer.Decode(e.Tokens), "<s> "); got != x.prompt+x.completion {
				t.Errorf("%s: the tokens of %q with %q are those of %q", name, x.prompt, x.completion, got)
			}
			if same := slices.Equal(e.Tokens, whole); x.usual && !same {
				t.Errorf("%s: %q with %q has the tokens %d, not %d", name, x.prompt, x.completion, e.Tokens, whole)
			} else if !same {
				apart++
			}
		}
		if apart == 0 {
			t.Errorf("%s: no text is encoded apart", name)
		}
	}
}

// TestApartMessages is TestApart for templates whose request for an answer can be the beginning of a token.
func TestApartMessages(t *testing.T) {
	o := merging(t, "smollm")
	template, err := chat.New("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}", nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Template = template
	list := []text.Message{{Role: "user", Content: "the"}, {Role: "assistant", Content: "the other"}, {Role: "user", Content: "and"}, {Role: "assistant", Content: "the"}}
	e, err := o.Encode(text.Record{Messages: list})
	if err != nil {
		t.Fatal(err)
	}
	prompt := o.Tokenizer.EncodeWith("user: the\nassistant: ", tokenizer.Options{OmitSpecial: true}).IDs
	if n := len(prompt); !slices.Equal(e.Tokens[:n], prompt) || slices.Contains(e.Learned[:n], true) || !e.Learned[n] {
		t.Errorf("the tokens are %d, the prompt has %d", e.Tokens, prompt)
	}
	if got := show(o, e); got != "user: the\nassistant: [the other]\nuser: and\nassistant: [the]\n" {
		t.Error(strings.ReplaceAll(got, "\n", "|"))
	}
}
