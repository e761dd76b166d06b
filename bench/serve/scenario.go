package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
)

// scenario is what users ask for who each send one request after another until the time is over.
type scenario struct {
	name           string
	users          int
	prompt, answer func(r *rand.Rand) int // tokens
	shared         int                    // of a prompt: tokens with which all prompts begin
	long           int                    // tokens of a prompt that one more user sends every two seconds; 0 for none
	seed           uint64                 // of the prompts
	adapters       []string               // of users, in turn
}

// fixed returns a distribution of one value.
func fixed(n int) func(*rand.Rand) int { return func(*rand.Rand) int { return n } }

// scenarios returns the scenarios by their names.
func (p plan) scenarios() []scenario {
	users := slices.Max(p.users)
	prompt := func(r *rand.Rand) int { return draw(r, promptLengths) }
	answer := func(r *rand.Rand) int { return draw(r, answerLengths) }
	return []scenario{
		{name: "histogram", users: users, prompt: prompt, answer: answer},
		{name: "mixed", users: users, prompt: fixed(512), answer: fixed(128), long: 8000},
		{name: "distinct", users: users, prompt: fixed(1000), answer: fixed(50)},
		{name: "shared", users: users, prompt: fixed(1000), answer: fixed(50), shared: 900},
	}
}

// scenario returns the scenario with a name.
func (p plan) scenario(name string) (scenario, error) {
	var names []string
	for _, s := range p.scenarios() {
		if s.name == name {
			return s, nil
		}
		names = append(names, s.name)
	}
	return scenario{}, fmt.Errorf("no load %q; there are %v", name, names)
}

// question is a request.
type question struct {
	prompt  string
	tokens  int
	long    bool
	adapter string // or ""
}

// source makes the requests of a user.
type source struct {
	scenario
	*rand.Rand
	model   *llm.Model
	adapter string
}

// next returns the next request.
func (s *source) next() question {
	return question{s.text(s.prompt(s.Rand)), s.answer(s.Rand), false, s.adapter}
}

// longest returns a request with a long prompt.
func (s *source) longest() question { return question{s.text(s.long), 32, true, s.adapter} }

// text returns about n tokens of text: those that are shared, and random ones.
func (s *source) text(n int) string {
	ids, common := make([]int32, n), rand.New(rand.NewPCG(s.seed, 1<<32))
	for i := range ids {
		r := s.Rand
		if i < s.shared {
			r = common
		}
		ids[i] = s.word(r)
	}
	return s.model.Tokenizer().Decode(ids)
}

// word returns a random token that is a word after a space, or any token if the vocabulary seems to have no words.
func (s *source) word(r *rand.Rand) int32 {
	t := s.model.Tokenizer()
	for range 100 {
		id := int32(r.IntN(t.Size()))
		text := t.Decode([]int32{id})
		if len(text) > 2 && text[0] == ' ' && text[1] >= 'a' && text[1] <= 'z' && !t.IsSpecial(id) {
			return id
		}
	}
	return int32(r.IntN(t.Size()))
}

// patience is the time between long prompts.
const patience = 2 * time.Second
