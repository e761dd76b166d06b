package main

import (
	"encoding/gob"
	"io"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/compare"
	"github.com/gopherwarp/gopherwarp/internal/verify/progen/trial"
)

// TestServe asks for two kernels, on the interpreter, the second time with a wrong idea of what is right.
func TestServe(t *testing.T) {
	c, err := compare.New("../../../..", compare.Options{Contracted: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	report, err := c.Kernels(t.Context(), []progen.Kernel{progen.New(2, 0), progen.New(2, 1)})
	if err != nil {
		t.Fatal(err)
	}
	dev, err := ptxinterp.Open()
	if err != nil {
		t.Fatal(err)
	}
	questions, ask := io.Pipe()
	answer, answers := io.Pipe()
	go func() { answers.CloseWithError(serve(dev, questions, answers)) }()
	send, receive := gob.NewEncoder(ask), gob.NewDecoder(answer)
	var hello trial.Answer
	if err := receive.Decode(&hello); err != nil || hello.Device != dev.Info().Name {
		t.Fatalf("hello from %q: %v", hello.Device, err)
	}
	for _, wrong := range []string{"", "nothing"} {
		for i, trialled := range report.Trials {
			want := report.Results[i]
			want.Fault += wrong
			if err := send.Encode(trial.Question{Trial: *trialled, Want: &want}); err != nil {
				t.Fatal(err)
			}
			var a trial.Answer
			if err := receive.Decode(&a); err != nil {
				t.Fatal(err)
			}
			if (a.Wrong != "") != (wrong != "") || a.Last {
				t.Errorf("kernel %d answers %+v", i, a)
			}
		}
	}
	ask.Close()
	if err := receive.Decode(&hello); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}
