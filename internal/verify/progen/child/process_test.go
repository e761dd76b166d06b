package child

import (
	"encoding/gob"
	"os"
	"strings"
	"testing"
	"time"
)

// asChild has the test's program answer, instead of test.
const asChild = "GOPHERWARP_TEST_CHILD=1"

func TestMain(m *testing.M) {
	if strings.Contains(strings.Join(os.Environ(), "\n"), asChild) {
		answer()
		return
	}
	os.Exit(m.Run())
}

// answer doubles numbers. One ends the process, and one hangs it.
func answer() {
	in, out := gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout)
	out.Encode("hello")
	for {
		var n int
		if in.Decode(&n) != nil {
			return
		}
		switch n {
		case 13:
			panic("unlucky")
		case 99:
			time.Sleep(time.Hour)
		}
		out.Encode(2 * n)
	}
}

func TestProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Command: []string{self}, Env: []string{asChild}, Patience: time.Minute}
	defer p.Stop()
	ask := func(n int) (int, error) {
		t.Helper()
		hello := ""
		if err := p.Start(t.Context(), &hello); err != nil || hello != "" && hello != "hello" {
			t.Fatalf("hello %q, %v", hello, err)
		}
		var twice int
		err := p.Ask(n, &twice)
		return twice, err
	}
	for _, n := range []int{3, 5} {
		if got, err := ask(n); got != 2*n || err != nil {
			t.Errorf("of %d: %d, %v", n, got, err)
		}
	}
	if _, err := ask(13); err == nil || !strings.Contains(err.Error(), "ended (EOF): panic: unlucky") {
		t.Errorf("of 13: %v", err)
	}
	if got, err := ask(7); got != 14 || err != nil {
		t.Errorf("of 7, in a new process: %d, %v", got, err)
	}
	p.Patience = 100 * time.Millisecond
	if _, err := ask(99); err == nil || !strings.Contains(err.Error(), "took longer than 100ms") {
		t.Errorf("of 99: %v", err)
	}
}

func TestNoProgram(t *testing.T) {
	p := &Process{Command: []string{"./none"}, Patience: time.Second}
	if err := p.Start(t.Context(), nil); err == nil {
		t.Error("a program that is not there was started")
	}
	p.Stop()
}
