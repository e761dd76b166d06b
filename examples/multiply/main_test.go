package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp"
)

// devices are the best device of this machine and the interpreter.
var devices = [...]string{"", "interp"}

func TestRun(t *testing.T) {
	want := regexp.MustCompile(`^device: .+
first kernel done \S+ after the start

 +elements +kernel +copies +total +CPU loop
 +1000( +[0-9.]+[nµm]?s){4}
 +4097( +[0-9.]+[nµm]?s){4}

ok  5097 elements, largest error 0
$`)
	for _, name := range devices {
		t.Setenv("GOPHERWARP_DEVICE", name)
		var out strings.Builder
		if err := run(&out, time.Now(), 1000, 4097); err != nil {
			t.Fatal(err)
		}
		if !want.MatchString(out.String()) {
			t.Errorf("run wrote\n%s\nwant a match of\n%v", out.String(), want)
		}
	}
}

func TestProducts(t *testing.T) {
	dev, err := gopherwarp.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	// The last block has only one thread with an element.
	x := arrays{make([]float32, 257), make([]float32, 257), make([]float32, 257)}
	for i := range x.c {
		x.a[i], x.b[i], x.c[i] = float32(i), 0.5, -1
	}
	if _, err := x.measure(s); err != nil {
		t.Fatal(err)
	}
	for i, got := range x.c {
		if want := float32(i) / 2; got != want {
			t.Fatalf("c[%d] = %v, want %v", i, got, want)
		}
	}
}

func TestCheckFindsErrors(t *testing.T) {
	x := newArrays(8)
	multiplyLoop(x.a, x.b, x.c)
	if _, off := x.check(); off != 0 {
		t.Errorf("largest error %v of correct products, want 0", off)
	}
	x.c[5] += 0.25
	if _, off := x.check(); off != 0.25 {
		t.Errorf("largest error %v, want 0.25", off)
	}
}
