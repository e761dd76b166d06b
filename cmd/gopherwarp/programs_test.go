package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write writes a file as go build does, in place of a kept one.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestProgramsAreKept(t *testing.T) {
	p := programs{dir: filepath.Join(t.TempDir(), "run"), keep: 2}
	for i, want := range []string{"", "first", "second"} {
		program, err := p.checkOut("./a")
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(program); string(text) != want {
			t.Errorf("run %d finds the program %q, want %q", i, text, want)
		}
		other, err := p.checkOut("./a") // at the same time
		if err != nil || other == program {
			t.Fatalf("two runs have the program %s (%v)", other, err)
		}
		if i < 2 {
			write(t, program, [...]string{"first", "second"}[i])
		}
		if err := p.checkIn("./a", program); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(other); string(text) != want {
			t.Errorf("another run's program became %q, want %q", text, want)
		}
		if err := os.RemoveAll(filepath.Dir(program)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProgramsAreTrimmed(t *testing.T) {
	p := programs{dir: t.TempDir(), keep: 2}
	old := filepath.Join(p.dir, runFolder+"old")
	if err := os.Mkdir(old, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*abandoned)); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		program, err := p.checkOut(fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		write(t, program, fmt.Sprint(i))
		if err := os.Chtimes(program, time.Time{}, time.Now().Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := p.checkIn(fmt.Sprint(i), program); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4 {
		place := p.place(fmt.Sprint(i))
		if _, err := os.Stat(place); (err == nil) != (i >= 2) {
			t.Errorf("program %d of 4: %v, want the last 2", i, err)
		}
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("the folder of a run that was abandoned is still there")
	}
}

// TestProgramsWithoutCache checks that programs run if nothing can be kept.
func TestProgramsWithoutCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, dir := range []string{"", filepath.Join(file, "run")} {
		p := programs{dir: dir, keep: 2}
		program, err := p.checkOut("./a")
		if err != nil {
			t.Fatalf("with the folder %q: %v", dir, err)
		}
		write(t, program, "")
		if err := p.checkIn("./a", program); err != nil {
			t.Errorf("with the folder %q: %v", dir, err)
		}
		if err := os.RemoveAll(filepath.Dir(program)); err != nil {
			t.Fatal(err)
		}
	}
}
