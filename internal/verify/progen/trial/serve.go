package trial

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// Question is what one process asks of another: run this trial.
type Question struct {
	Trial Trial
	Want  *Result // what it should leave, where that is known
}

// Answer is what became of a trial.
type Answer struct {
	Result  Result // unless a question has what it should be
	Wrong   string // how that differs from what it should be, or other ways to run it from each other; or ""
	Twin    bool   // it ran as a twin, too
	Device  string // what it ran on
	Foreign bool   // the device lacks what the kernel needs
	Last    bool   // nothing can be run any more
}

// Serve answers questions, one after another, until there are no more or one was answered
// for the last time. Before the first it says hello: an answer that has but a device.
func Serve(r io.Reader, w io.Writer, device string, run func(Question) Answer) error {
	questions, answers := gob.NewDecoder(r), gob.NewEncoder(w)
	if err := answers.Encode(Answer{Device: device}); err != nil {
		return fmt.Errorf("trial: saying hello: %w", err)
	}
	for {
		var q Question
		switch err := questions.Decode(&q); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("trial: reading a question: %w", err)
		}
		a := run(q)
		if err := answers.Encode(a); err != nil {
			return fmt.Errorf("trial: answering: %w", err)
		}
		if a.Last {
			return nil
		}
	}
}

// Check answers a question by what the runner's device leaves.
func (r *Runner) Check(q Question) Answer {
	got := r.Run(&q.Trial)
	if got.Foreign {
		return Answer{Foreign: true}
	}
	return Answer{Wrong: q.Trial.Differs(*q.Want, got), Last: r.stream == nil}
}
