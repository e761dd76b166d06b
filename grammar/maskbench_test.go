package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/tokenizer"
)

var (
	maskbench     = flag.String("maskbench", "", "folder with the schemas of maskbench, maskbench/data of github.com/guidance-ai/jsonschemabench")
	maskbenchTok  = flag.String("maskbench-tokenizer", "", "tokenizer.json with which masks are timed")
	maskbenchList = flag.String("maskbench-results", "", "file that receives a line for each schema")
)

// benchCase is a file of maskbench.
type benchCase struct {
	Schema json.RawMessage
	Tests  []struct {
		Valid bool
		Data  json.RawMessage
	}
}

// TestMaskbench counts the schemas of maskbench that are supported, and demands that no invalid document is accepted.
func TestMaskbench(t *testing.T) {
	if *maskbench == "" {
		t.Skip("no -maskbench")
	}
	files, err := filepath.Glob(filepath.Join(*maskbench, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	b := maskbenchRun{T: t, reasons: map[string]int{}}
	if *maskbenchTok != "" {
		if b.tok, err = tokenizer.Open(*maskbenchTok); err != nil {
			t.Fatal(err)
		}
		b.vocabulary = NewVocabulary(b.tok, nil)
	}
	for _, f := range files {
		b.file(f)
	}
	t.Logf("%d schemas, %d compiled, %d with all tests right; %d invalid documents accepted, %d valid ones refused (of %d and %d)",
		len(files), b.compiled, b.right, b.accepted, b.refused, b.invalid, b.valid)
	t.Log("compilation:", quantiles(b.compile))
	t.Log("masks:", quantiles(b.masks))
	var reasons []string
	for r, n := range b.reasons {
		reasons = append(reasons, fmt.Sprintf("%5d %s", n, r))
	}
	slices.Sort(reasons)
	slices.Reverse(reasons)
	t.Log("reasons:\n" + strings.Join(reasons[:min(len(reasons), 60)], "\n"))
	if b.accepted > 0 {
		t.Errorf("%d invalid documents are accepted", b.accepted)
	}
	if *maskbenchList != "" {
		if err := os.WriteFile(*maskbenchList, []byte(strings.Join(b.lines, "\n")), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// maskbenchRun counts results.
type maskbenchRun struct {
	*testing.T
	tok                                *tokenizer.Tokenizer
	vocabulary                         *Vocabulary
	compiled, right, accepted, refused int
	valid, invalid                     int
	reasons                            map[string]int
	lines                              []string
	compile, masks                     []time.Duration
}

func (b *maskbenchRun) file(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var c benchCase
	if err := json.Unmarshal(data, &c); err != nil {
		b.Fatal(err)
	}
	name := filepath.Base(path)
	began := time.Now()
	g, err := Schema(c.Schema)
	b.compile = append(b.compile, time.Since(began))
	if took := time.Since(began); took > time.Second {
		b.Logf("%s: compiled in %v", name, took)
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), ": ")
		if i := strings.LastIndex(err.Error(), " at #"); i >= 0 && errors.Is(err, ErrUnsupported) {
			_, reason, _ = strings.Cut(err.Error()[i:], ": ")
		}
		b.reasons[reason[:min(len(reason), 60)]]++
		b.lines = append(b.lines, name+" error "+err.Error())
		return
	}
	b.compiled++
	ok := true
	for i, x := range c.Tests {
		text := spelled(b.T, x.Data)
		got := g.Match(text)
		if x.Valid {
			b.valid++
		} else {
			b.invalid++
		}
		if got == x.Valid {
			if b.vocabulary != nil {
				b.time(g, text)
			}
			continue
		}
		ok = false
		if got {
			b.accepted++
		} else {
			b.refused++
		}
		b.lines = append(b.lines, fmt.Sprintf("%s test %d valid %v got %v: %.200s", name, i, x.Valid, got, text[max(0, g.reach(text)-100):]))
	}
	if ok {
		b.right++
		b.lines = append(b.lines, name+" right")
	}
}

// reach returns how many bytes of a text the grammar allows.
func (g *Grammar) reach(text string) int {
	g.machine.Allow(maxWork)
	k := g.machine.First()
	for i := range len(text) {
		if k = g.machine.Step(k, text[i]); k == nil {
			return i
		}
	}
	return len(text)
}

// time measures the masks before the tokens of a text.
func (b *maskbenchRun) time(g *Grammar, text string) {
	m := g.NewMatcher(b.vocabulary)
	words := make([]uint32, b.vocabulary.Words())
	for _, id := range b.tok.EncodeWith(text, tokenizer.Options{PlainText: true, OmitSpecial: true}).IDs {
		began := time.Now()
		err := m.Mask(words)
		b.masks = append(b.masks, time.Since(began))
		allowed := err == nil && words[id/32]>>(id%32)&1 != 0
		if err := m.Accept(id); (err == nil) != allowed {
			b.Fatalf("%q: token %d is allowed: %v; Accept: %v", text, id, allowed, err)
		}
		if !allowed {
			return
		}
	}
}

// quantiles describes durations.
func quantiles(list []time.Duration) string {
	if len(list) == 0 {
		return "none"
	}
	slices.Sort(list)
	var sum time.Duration
	for _, d := range list {
		sum += d
	}
	at := func(q float64) time.Duration { return list[int(q*float64(len(list)-1))] }
	return fmt.Sprintf("%d, mean %v, p50 %v, p90 %v, p99 %v, p99.9 %v, max %v", len(list), sum/time.Duration(len(list)), at(0.5), at(0.9), at(0.99), at(0.999), at(1))
}

// spelled returns a document as Python's json.dumps(ensure_ascii=False) spells it.
func spelled(t *testing.T, raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var b strings.Builder
	if err := spell(d, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func spell(d *json.Decoder, b *strings.Builder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return scalar(b, token)
	}
	b.WriteString(open.String())
	for first := true; d.More(); first = false {
		if !first {
			b.WriteString(", ")
		}
		if open == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if err := scalar(b, name); err != nil {
				return err
			}
			b.WriteString(": ")
		}
		if err := spell(d, b); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	b.WriteString(end.(json.Delim).String())
	return nil
}

// scalar writes a value that is neither an array nor an object.
func scalar(b *strings.Builder, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	s := strings.TrimSuffix(text.String(), "\n")
	b.WriteString(strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(s))
	return nil
}
