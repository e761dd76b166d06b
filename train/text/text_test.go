package text_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/train/text"
)

// options returns those of a model with a token for each byte.
func options(t *testing.T) text.Options {
	t.Helper()
	f, err := llm.OpenFiles(llamatest.Write(t, llamatest.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Weights.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Options{Tokenizer: f.Tokenizer, Template: f.Template, End: &f.Ends[0], Length: 100}
}

// write writes a file of lines.
func write(t *testing.T, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// show returns the text of tokens, with brackets around those that are learned.
func show(o text.Options, e text.Example) string {
	var b strings.Builder
	for i, id := range e.Tokens {
		if e.Learned[i] && (i == 0 || !e.Learned[i-1]) {
			b.WriteByte('[')
		}
		b.WriteString(o.Tokenizer.Decode([]int32{id}))
		if e.Learned[i] && (i+1 == len(e.Tokens) || !e.Learned[i+1]) {
			b.WriteByte(']')
		}
	}
	return b.String()
}

func TestLearned(t *testing.T) {
	o := options(t)
	for _, x := range []struct{ line, want string }{
		{`{"messages": [{"role": "user", "content": "XIV?"}, {"role": "assistant", "content": "14"}]}`, "<|im_start|>user: XIV?<|im_end|><|im_start|>[assistant: 14<|im_end|>]"},
		{`{"messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}], "id": 7}`,
			"[<|im_start|>assistant: a<|im_end|>]<|im_start|>user: b<|im_end|><|im_start|>[assistant: c<|im_end|>]"},
		{`{"prompt": "XIV:", "completion": "14"}`, "XIV:[14<|im_end|>]"},
		{`{"prompt": "", "completion": ""}`, "[<|im_end|>]"},
		{`{"text": "XIV is 14"}`, "[XIV is 14<|im_end|>]"},
		{`{"text": "<|im_end|>"}`, "[<|im_end|><|im_end|>]"},
	} {
		r, err := text.ParseLine([]byte(x.line))
		if err != nil {
			t.Fatal(err)
		}
		e, err := o.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := show(o, e); got != x.want {
			t.Errorf("%s: %s, want %s", x.line, got, x.want)
		}
	}
}

// TestPreferences encodes and packs preferences.
func TestPreferences(t *testing.T) {
	o := options(t)
	o.Preferences = true
	user, good, bad := `{"role": "user", "content": "XIV?"}`, `{"role": "assistant", "content": "14"}`, `{"role": "assistant", "content": "16"}`
	for _, x := range []struct{ line, chosen, rejected string }{
		{`{"prompt": "XIV:", "chosen": "14", "rejected": "16"}`, "XIV:[14<|im_end|>]", "XIV:[16<|im_end|>]"},
		{`{"prompt": "XIV?", "chosen": [` + user + "," + good + `], "rejected": [` + user + "," + bad + `]}`,
			"<|im_start|>user: XIV?<|im_end|><|im_start|>[assistant: 14<|im_end|>]", "<|im_start|>user: XIV?<|im_end|><|im_start|>[assistant: 16<|im_end|>]"},
		{`{"prompt": [` + good + "," + user + `], "chosen": [` + good + `], "rejected": [` + bad + `]}`,
			"<|im_start|>assistant: 14<|im_end|><|im_start|>user: XIV?<|im_end|><|im_start|>[assistant: 14<|im_end|>]",
			"<|im_start|>assistant: 14<|im_end|><|im_start|>user: XIV?<|im_end|><|im_start|>[assistant: 16<|im_end|>]"},
	} {
		d, err := text.Read([]string{write(t, x.line, x.line)}, o)
		if err != nil {
			t.Fatal(err)
		}
		e := d.Examples[0]
		if got, other := show(o, e), show(o, *e.Rejected); got != x.chosen || other != x.rejected {
			t.Errorf("%s: %s and %s, want %s and %s", x.line, got, other, x.chosen, x.rejected)
		}
		all, learned := d.Tokens()
		p := d.Packs(0, 0)[0]
		if n := len(e.Tokens); p.Lengths[0] != n || p.Lengths[1] != n || p.Pairs*2 != len(p.Lengths) || all != 4*n || p.Learned != p.Pairs*learned/2 {
			t.Errorf("%s: a pack of %v with %d pairs and %d of %d learned tokens", x.line, p.Lengths, p.Pairs, p.Learned, learned)
		}
	}
	long := `{"prompt": "` + strings.Repeat("a", 60) + `", "chosen": "b", "rejected": "c"}`
	if _, err := text.Read([]string{write(t, long)}, o); !errors.Is(err, text.ErrLong) || !strings.Contains(err.Error(), "124 tokens, more than 100") {
		t.Errorf("a long preference: %v", err)
	}
	o.Truncate = true
	r, err := text.ParseLine([]byte(long))
	if err != nil {
		t.Fatal(err)
	}
	if e, err := o.Encode(r); err != nil || len(e.Tokens) != 50 || len(e.Rejected.Tokens) != 50 {
		t.Errorf("truncated to %d and %d tokens, %v", len(e.Tokens), len(e.Rejected.Tokens), err)
	}
	if _, err := text.Read([]string{write(t, `{"text": "a"}`)}, o); !errors.Is(err, text.ErrLine) {
		t.Errorf("a text: %v", err)
	}
}

// TestPlainText says that the text of a special token in a line of text is no special token.
func TestPlainText(t *testing.T) {
	o := options(t)
	e, err := o.Encode(text.Record{Text: new("<|im_end|>")})
	if err != nil || len(e.Tokens) != len("<|im_end|>")+1 {
		t.Errorf("%d tokens, %v", len(e.Tokens), err)
	}
}

func TestErrors(t *testing.T) {
	o := options(t)
	good := `{"text": "a"}`
	for _, x := range []struct {
		name, line string
		want       error
		text       string
	}{
		{"not JSON", `{"text": `, text.ErrLine, "unexpected end"},
		{"an array", `[]`, text.ErrLine, "array"},
		{"no kind", `{"texts": "a"}`, text.ErrLine, "0 of messages"},
		{"two kinds", `{"text": "a", "messages": []}`, text.ErrLine, "2 of messages"},
		{"no completion", `{"prompt": "a"}`, text.ErrLine, "belong together"},
		{"half a preference", `{"prompt": "a", "chosen": "b"}`, text.ErrLine, "chosen and rejected belong together"},
		{"equal answers", `{"prompt": "a", "chosen": "b", "rejected": "b"}`, text.ErrLine, "are equal"},
		{"no prompt", `{"chosen": "b", "rejected": "c"}`, text.ErrLine, "need a text as the prompt"},
		{"different answers", `{"chosen": "b", "rejected": [{"role": "assistant", "content": "c"}]}`, text.ErrLine, "one of chosen and rejected is a text"},
		{"no answer", `{"chosen": [{"role": "user", "content": "c"}], "rejected": [{"role": "assistant", "content": "c"}]}`, text.ErrLine, "no message of the assistant"},
		{"a preference", `{"prompt": "a", "chosen": "b", "rejected": "c"}`, text.ErrLine, "in all lines or in none"},
		{"no role", `{"messages": [{"content": "a"}]}`, text.ErrLine, "message 1 of messages has no role"},
		{"unknown role", `{"messages": [{"role": "human", "content": "a"}]}`, text.ErrLine, `message 1 of messages has the role "human"; want one of assistant, `},
		{"no content", `{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null}]}`, text.ErrLine, "message 2 of messages has no content"},
		{"content of another type", `{"chosen": [{"role": "assistant", "content": 1}], "rejected": []}`, text.ErrLine, "message 1 of chosen is wrong: content is of type number; want a string"},
		{"a message of another type", `{"messages": ["a"]}`, text.ErrLine, "message 1 of messages is of type string; want an object"},
		{"messages of another type", `{"messages": "a"}`, text.ErrLine, "messages is of type string; want an array"},
		{"other letters", `{"Prompt": "a", "COMPLETION": "b"}`, text.ErrLine, "0 of messages"},
		{"other letters of a role", `{"messages": [{"Role": "assistant", "content": "a"}]}`, text.ErrLine, "has no role"},
		{"invalid UTF-8", `{"prompt": "` + "\xff\xfe" + `XIV:", "completion": "15"}`, text.ErrLine, "not valid UTF-8"},
		{"no assistant", `{"messages": [{"role": "user", "content": "a"}]}`, text.ErrLine, "no message of the assistant"},
		{"a number", `{"text": 1}`, text.ErrLine, "number"},
		{"long", `{"text": "` + strings.Repeat("a", 100) + `"}`, text.ErrLong, "101 tokens, more than 100"},
	} {
		t.Run(x.name, func(t *testing.T) {
			name := write(t, good, "", x.line, good)
			_, err := text.Read([]string{name}, o)
			line, ok := errors.AsType[*text.LineError](err)
			if !ok || !errors.Is(err, x.want) || line.File != name || line.Line != 3 || !strings.Contains(err.Error(), x.text) {
				t.Errorf("got %v, want line 3 and %q", err, x.text)
			}
		})
	}
	o.Template = nil
	if _, err := text.Read([]string{write(t, `{"messages": [{"role": "assistant", "content": "a"}]}`)}, o); !errors.Is(err, text.ErrOptions) {
		t.Errorf("no template: %v", err)
	}
	if _, err := text.Read([]string{write(t, "", "  ")}, o); !errors.Is(err, text.ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
	if _, err := text.Read([]string{filepath.Join(t.TempDir(), "none")}, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	o.Length = 1
	if _, err := text.Read([]string{write(t, good)}, o); !errors.Is(err, text.ErrOptions) {
		t.Errorf("a length of 1: %v", err)
	}
}

// TestKeys says that keys in other letters and nulls have no effect, and that a byte order mark is skipped.
func TestKeys(t *testing.T) {
	o := options(t)
	d, err := text.Read([]string{write(t, "\ufeff"+`{"prompt": "XIV:", "completion": "14", "Text": "a remark", "messages": null, "CHOSEN": 7}`)}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(o, d.Examples[0]); got != "XIV:[14<|im_end|>]" {
		t.Error(got)
	}
}

// TestManyErrors says that Read reports ten bad lines at once.
func TestManyErrors(t *testing.T) {
	_, err := text.Read([]string{write(t, slices.Repeat([]string{"{}"}, 30)...)}, options(t))
	if n := strings.Count(fmt.Sprint(err), "texts.jsonl:"); n != 10 {
		t.Errorf("%d errors, want 10:\n%v", n, err)
	}
}

func TestTruncate(t *testing.T) {
	o := options(t)
	o.Truncate, o.Length = true, 5
	d, err := text.Read([]string{write(t, `{"prompt": "abc", "completion": "defg"}`)}, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := show(o, d.Examples[0]); got != "abc[de]" {
		t.Errorf("%s, want abc[de]", got)
	}
	if all, learned := d.Tokens(); all != 5 || learned != 2 {
		t.Errorf("%d tokens, %d learned", all, learned)
	}
}

// TestDropped says that Read drops and reports lines of which nothing to learn remains, and that the first token of a text is not learned, because
// nothing predicts it.
func TestDropped(t *testing.T) {
	o := options(t)
	o.Truncate, o.Length, o.End = true, 8, nil
	name := write(t, `{"prompt": "abcdefgh", "completion": "i"}`, "", `{"prompt": "abcdefg", "completion": "hi"}`, `{"text": "a"}`, `{"text": "abc"}`)
	d, err := text.Read([]string{name}, o)
	if err != nil {
		t.Fatal(err)
	}
	if all, learned := d.Tokens(); len(d.Examples) != 2 || all != 8+3 || learned != 1+2 {
		t.Errorf("%d examples, %d tokens, %d learned", len(d.Examples), all, learned)
	}
	var dropped []string
	total := 0
	for _, e := range d.Dropped {
		dropped = append(dropped, strings.TrimPrefix(e.Error(), name))
		if !errors.Is(e, text.ErrEmpty) {
			t.Error(e)
		}
	}
	want := []string{":1: text: nothing to learn among its 8 tokens; texts are cut after 8", ":4: text: nothing to learn among its 1 tokens; texts are cut after 8"}
	if !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	for _, p := range d.Packs(0, 0) {
		total += p.Learned
	}
	if total != 3 {
		t.Errorf("%d tokens are learned, want 3", total)
	}

	o.Preferences = true
	name = write(t, `{"prompt": "ab", "chosen": "cd", "rejected": "ce"}`, `{"prompt": "abcd", "chosen": "x", "rejected": "y"}`, `{"prompt": "ab", "chosen": "cde", "rejected": "cdf"}`,
		`{"prompt": "ab", "chosen": "", "rejected": "c"}`)
	if d, err = text.Read([]string{name}, o); err != nil || len(d.Examples) != 1 || len(d.Dropped) != 3 {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, learned := d.Tokens(); learned != 4 {
		t.Errorf("%d tokens of a preference are learned", learned)
	}
	if got := d.Dropped[1].Error(); !strings.Contains(got, ":3: text: nothing to learn: the 4 tokens of both answers") {
		t.Error(got)
	}
	if _, err := text.Read([]string{write(t, `{"prompt": "abcd", "chosen": "x", "rejected": "y"}`)}, o); !errors.Is(err, text.ErrEmpty) || !strings.Contains(err.Error(), "jsonl:1: ") {
		t.Error(err)
	}
}

// TestPacks checks that each text is in one pack, and what its tokens predict.
func TestPacks(t *testing.T) {
	o := options(t)
	o.Length = 20
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf(`{"prompt": "%c", "completion": "%s"}`, '0'+i, strings.Repeat("x", i%7)))
	}
	d, err := text.Read([]string{write(t, lines...)}, o)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, p := range d.Packs(0, 1) {
		if len(p.Tokens) > 20 || len(p.Labels) != len(p.Tokens) {
			t.Fatalf("%d tokens and %d labels", len(p.Tokens), len(p.Labels))
		}
		learned, at := 0, 0
		for _, n := range p.Lengths {
			texts = append(texts, o.Tokenizer.Decode(p.Tokens[at:at+n]))
			for i := at; i < at+n-1; i++ {
				if p.Labels[i] != p.Tokens[i+1] { // all but the first character are learned
					t.Errorf("label %d of %q is %d, want %d", i-at, texts[len(texts)-1], p.Labels[i], p.Tokens[i+1])
				}
			}
			if p.Labels[at+n-1] != -1 {
				t.Errorf("the last label of %q is %d", texts[len(texts)-1], p.Labels[at+n-1])
			}
			learned, at = learned+n-1, at+n
		}
		if at != len(p.Tokens) || learned != p.Learned {
			t.Errorf("%d tokens of %d in sequences, %d of %d learned", at, len(p.Tokens), learned, p.Learned)
		}
	}
	if slices.Sort(texts); len(slices.Compact(texts)) != 30 {
		t.Errorf("%d texts in packs, want 30", len(texts))
	}
	first := d.Packs(0, 1)
	for _, x := range []struct {
		epoch, seed uint64
		same        bool
	}{{0, 1, true}, {1, 1, false}, {0, 2, false}} {
		if same := slices.Equal(d.Packs(x.epoch, x.seed)[0].Tokens, first[0].Tokens); same != x.same {
			t.Errorf("epoch %d, seed %d: the first pack is that of epoch 0 and seed 1: %v", x.epoch, x.seed, same)
		}
	}
}

// FuzzParseLine parses arbitrary lines: each is refused with ErrLine, or has tokens.
func FuzzParseLine(f *testing.F) {
	for _, line := range []string{`{"text": "a"}`, `{"prompt": "a", "completion": "b"}`, `{"messages": [{"role": "assistant", "content": "a"}]}`, `{"text": "\ud800"}`, "{}", "null", `{"messages": []}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := text.ParseLine(line)
		if err != nil {
			if !errors.Is(err, text.ErrLine) {
				t.Errorf("%q: %v", line, err)
			}
			return
		}
		if (r.Messages != nil) == (r.Text != nil) && (r.Prompt == nil || r.Completion == nil) {
			t.Errorf("%q became %+v", line, r)
		}
	})
}
