package main

import "testing"

// TestModelFlags checks flags that make sense and others.
func TestModelFlags(t *testing.T) {
	sensible := modelFlags{Temperature: 0.7, TopK: 40, TopP: 0.95, Repetition: 1.1, Seed: 3}
	if err := sensible.check(); err != nil {
		t.Error(err)
	}
	if r := sensible.request(); r.RepetitionPenalty != 1.1 || r.Temperature != 0.7 || r.TopK != 40 || r.TopP != 0.95 || r.Seed != 3 {
		t.Errorf("got %+v", r)
	}
	for name, change := range map[string]func(f *modelFlags){
		"context": func(f *modelFlags) { f.Context = -1 }, "temperature": func(f *modelFlags) { f.Temperature = -1 }, "top-p": func(f *modelFlags) { f.TopP = 2 },
		"repetition-penalty": func(f *modelFlags) { f.Repetition = 0 },
	} {
		f := sensible
		change(&f)
		if f.check() == nil {
			t.Errorf("-%s: no error", name)
		}
	}
}
