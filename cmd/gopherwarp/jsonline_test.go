package main

import (
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
)

// The fields of an object that a command does not know keep their order, and their values every digit.
func TestFieldsPassThrough(t *testing.T) {
	const input = `{"id":1234567890123456789,"f":1.10,"text":"a <b>","big":{"z":1e400, "a":[9007199254740993]},"score":7,"tokens":1,"<":"\u00e9"}` + "\n"
	embed, err := embedded(t, embedCommand{Model: berttest.WriteFolder(t, berttest.Options{}), JSON: true}, input)
	const before = `{"id":1234567890123456789,"f":1.10,"text":"a <b>","big":{"z":1e400, "a":[9007199254740993]},`
	if err != nil || !strings.HasPrefix(embed, before+`"score":7,"<":"\u00e9","tokens":`) || strings.Count(embed, `"tokens"`) != 1 {
		t.Errorf("embed: %v, %s", err, embed)
	}
	rerank, err := ranked(t, rerankCommand{Model: berttest.WriteFolder(t, berttest.Options{Labels: 1}), Query: "a", JSON: true}, input)
	if err != nil || !strings.HasPrefix(rerank, before+`"tokens":1,"<":"\u00e9","score":0.`) || !strings.HasSuffix(rerank, `,"index":0,"truncated":false}`+"\n") {
		t.Errorf("rerank: %v, %s", err, rerank)
	}
}

// Of fields with the same name, the last one counts. A text alone is an object with the field text.
func TestParseText(t *testing.T) {
	for in, want := range map[string]string{
		`{"text":"a","id":1,"text":"b","id":2}`: `{"text":"b","id":2,"n":3}`, `"<a>"`: `{"text":"<a>","n":3}`, `{"text":"","n":[1]}`: `{"text":"","n":3}`,
	} {
		x, err := parseText([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got, err := x.line(result{"n", 3}); err != nil || string(got) != want+"\n" {
			t.Errorf("%s: %v, %s", in, err, got)
		}
	}
	for in, want := range map[string]string{
		`null`: "neither a text nor an object", `{"text":null}`: "no text", `{"text":1}`: "no text", `{"Text":"a"}`: "no text", `{"text":"a"} {}`: "neither a text nor an object", `[]`: "want an object",
	} {
		if x, err := parseText([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", in, x, err)
		}
	}
}
